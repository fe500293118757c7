"use client";

import { EvidenceChat } from "@evidence-chat/widget/react";

/** Replace with your site's sign-in. */
const getToken = async () => sessionStorage.getItem("access-token");

export function SupportChat() {
  return <EvidenceChat endpoint="/api/chat" heading="Ask our handbook" tokenProvider={getToken} />;
}
