/** `<EvidenceChat>`: the widget as a component of React 18 and 19. It may be rendered on a server. */
import {
  createElement,
  type CSSProperties,
  forwardRef,
  type ForwardRefExoticComponent,
  type ReactNode,
  type RefAttributes,
  useCallback,
  useEffect,
  useImperativeHandle,
  useRef,
} from "react";
import { EvidenceChatElement } from "./define.js";
import {
  assignProperties,
  attributeName,
  type EvidenceChatAttributes,
  type EvidenceChatProperties,
  isElementProperty,
} from "./element/attributes.js";
import type { EvidenceChatEventMap } from "./element/events.js";

export type { EvidenceChatElement, EvidenceChatProperties };
export type { EvidenceChatAttributes } from "./element/attributes.js";
export type { ContactDetail, EvidenceChatEventMap, MessageDetail, StageDetail } from "./element/events.js";

/** Each takes the element's event; its `detail` is documented in {@link EvidenceChatEventMap}. */
export interface EvidenceChatEvents {
  readonly onReady?: (event: EvidenceChatEventMap["ready"]) => void;
  readonly onMessage?: (event: EvidenceChatEventMap["message"]) => void;
  readonly onRefusal?: (event: EvidenceChatEventMap["refusal"]) => void;
  readonly onContact?: (event: EvidenceChatEventMap["contact"]) => void;
  readonly onCitationOpen?: (event: EvidenceChatEventMap["citation-open"]) => void;
  readonly onStage?: (event: EvidenceChatEventMap["stage"]) => void;
  readonly onError?: (event: EvidenceChatEventMap["error"]) => void;
}

export interface EvidenceChatProps extends EvidenceChatAttributes, EvidenceChatEvents, EvidenceChatProperties {
  readonly className?: string;
  readonly id?: string;
  readonly style?: CSSProperties;
  /** Greeting before the first question. */
  readonly children?: ReactNode;
}

declare module "react" {
  // Modules extend JSX's types only like this.
  // eslint-disable-next-line @typescript-eslint/no-namespace
  namespace JSX {
    interface IntrinsicElements {
      /** The element itself, as React 19 supports it; {@link EvidenceChat} is easier to use. */
      "evidence-chat": React.DetailedHTMLProps<React.HTMLAttributes<EvidenceChatElement>, EvidenceChatElement> &
        ElementAttributes &
        EvidenceChatProperties;
    }
  }
}

/** The attributes by their own names. */
type ElementAttributes = {
  readonly [name in keyof EvidenceChatAttributes as Kebab<name>]?: EvidenceChatAttributes[name];
};
type Kebab<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `-${Lowercase<First>}`}${Kebab<Rest>}`
  : Name;

/** The events, by the property with their handler. */
const EVENTS = {
  onReady: "ready",
  onMessage: "message",
  onRefusal: "refusal",
  onContact: "contact",
  onCitationOpen: "citation-open",
  onStage: "stage",
  onError: "error",
} as const satisfies Record<keyof EvidenceChatEvents, keyof EvidenceChatEventMap>;

/** Props that React treats itself. */
const NOT_ATTRIBUTES = new Set(["children", "className", "style"]);

/** The widget. `ref` is the element, with `open()`, `close()`, `ask(question)` and `clear()`. */
export const EvidenceChat: ForwardRefExoticComponent<EvidenceChatProps & RefAttributes<EvidenceChatElement>> =
  forwardRef((props, ref) => {
    const element = useRef<EvidenceChatElement | null>(null);
    const latest = useRef(props);
    const stopListening = useRef<AbortController>(undefined);

    // Called before effects, so that the element has its token provider before anything asks for it.
    const attach = useCallback((attached: EvidenceChatElement | null) => {
      stopListening.current?.abort();
      element.current = attached;
      if (!attached) return;
      assignProperties(attached, latest.current);
      stopListening.current = new AbortController();
      const { signal } = stopListening.current;
      for (const [property, type] of Object.entries(EVENTS)) {
        const handle = (event: Event) => {
          const handler = latest.current[property as keyof EvidenceChatEvents] as ((event: Event) => void) | undefined;
          handler?.(event);
        };
        attached.addEventListener(type, handle, { signal });
      }
    }, []);
    useImperativeHandle(ref, () => element.current as EvidenceChatElement, []);
    useEffect(() => {
      const before = latest.current;
      latest.current = props;
      if (!element.current) return;
      assignProperties(element.current, props, before);
      // React 19 sets a removed attribute that is also a property of HTMLElement, such as `lang`, to "undefined".
      for (const name of Object.keys(attributesOf(before)))
        if (!(name in attributesOf(props))) element.current.removeAttribute(name);
    });

    // React 18 sets "className" and booleans of custom elements as they are written here.
    return createElement(
      "evidence-chat",
      // The element sets `data-state`, which the server's HTML lacks.
      {
        ...attributesOf(props),
        style: props.style,
        class: props.className,
        ref: attach,
        suppressHydrationWarning: true,
      },
      props.children,
    );
  });
EvidenceChat.displayName = "EvidenceChat";

function attributesOf(props: EvidenceChatProps): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const [name, value] of Object.entries(props)) {
    if (name in EVENTS || NOT_ATTRIBUTES.has(name) || isElementProperty(name)) continue;
    if (value === true) attributes[attributeName(name)] = "";
    else if (typeof value === "string" || typeof value === "number") attributes[attributeName(name)] = String(value);
  }
  return attributes;
}
