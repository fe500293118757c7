export const metadata = { title: "Evidence Chat in Next.js" };

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
