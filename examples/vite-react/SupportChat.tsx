import { EvidenceChat, type EvidenceChatElement, type MessageDetail } from "@evidence-chat/widget/react";
import { useRef, useState } from "react";

interface SupportChatProps {
  /** URL of POST /api/chat. */
  readonly endpoint: string;
  /** The visitor's access token, or `null`; called for each request. */
  readonly getToken: () => Promise<string | null>;
}

export function SupportChat({ endpoint, getToken }: SupportChatProps) {
  const chat = useRef<EvidenceChatElement>(null);
  const [sources, setSources] = useState<MessageDetail["citations"]>([]);
  const [problem, setProblem] = useState<string>();

  return (
    <>
      <EvidenceChat
        ref={chat}
        endpoint={endpoint}
        heading="Ask our handbook"
        tokenProvider={getToken}
        onMessage={({ detail }) => {
          setProblem(undefined);
          if (detail.role === "assistant") setSources(detail.citations);
        }}
        onRefusal={() => setSources([])}
        onError={({ detail }) => setProblem(detail.message)}
      />
      <button type="button" onClick={() => void chat.current?.ask("How long does a refund take?")}>
        How long does a refund take?
      </button>
      <p role="status">{problem ?? `Sources of the last answer: ${sources.length}`}</p>
    </>
  );
}
