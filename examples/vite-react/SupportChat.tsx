import "@evidence-chat/widget/define";
import type { Citation, EvidenceChatElement } from "@evidence-chat/widget";
import { useRef, useState } from "react";

interface SupportChatProps {
  /** URL of POST /api/chat. */
  readonly endpoint: string;
  /** The visitor's access token, or `null`; called for each request. */
  readonly getToken: () => Promise<string | null>;
}

export function SupportChat({ endpoint, getToken }: SupportChatProps) {
  const chat = useRef<EvidenceChatElement>(null);
  const [sources, setSources] = useState<readonly Citation[]>([]);
  const [problem, setProblem] = useState<string>();

  return (
    <>
      <evidence-chat
        ref={chat}
        endpoint={endpoint}
        heading="Ask our handbook"
        tokenProvider={getToken}
        onmessage={({ detail }) => {
          setProblem(undefined);
          if (detail.role === "assistant") setSources(detail.citations);
        }}
        onrefusal={() => setSources([])}
        onerror={({ detail }) => setProblem(detail.message)}
      />
      <button type="button" onClick={() => void chat.current?.ask("How long does a refund take?")}>
        How long does a refund take?
      </button>
      <p role="status">{problem ?? `Sources of the last answer: ${sources.length}`}</p>
    </>
  );
}
