import type { EvidenceChatElement, EvidenceChatEventMap } from "@evidence-chat/widget";
import type { DetailedHTMLProps, HTMLAttributes } from "react";

/** React 19 sets properties that the element has, and adds event listeners for names that begin with `on`. */
type EvidenceChatProps = DetailedHTMLProps<HTMLAttributes<EvidenceChatElement>, EvidenceChatElement> &
  Partial<Pick<EvidenceChatElement, "endpoint" | "mode" | "tokenProvider" | "embedderFactory" | "texts">> & {
    [type in keyof EvidenceChatEventMap as `on${type}`]?: (event: EvidenceChatEventMap[type]) => void;
  } & {
    "model-url"?: string;
    "support-url"?: string;
    greeting?: string;
    heading?: string;
    preload?: boolean;
    theme?: "auto" | "dark" | "light";
  };

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "evidence-chat": EvidenceChatProps;
    }
  }
}
