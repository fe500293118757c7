import { SupportChat } from "./support-chat";

export default function Page() {
  return (
    <main>
      <h1>Help</h1>
      <SupportChat />
    </main>
  );
}
