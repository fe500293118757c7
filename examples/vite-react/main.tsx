import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { SupportChat } from "./SupportChat.tsx";

/** Replace with your site's sign-in. */
async function getToken(): Promise<string | null> {
  return sessionStorage.getItem("access-token");
}

const app = document.getElementById("app") as HTMLElement;
createRoot(app).render(
  <StrictMode>
    <SupportChat endpoint="/api/chat" getToken={getToken} />
  </StrictMode>,
);
