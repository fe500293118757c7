/** `<EvidenceChat>`: the widget as a component of Vue 3. It may be rendered on a server. */
import { type App, defineComponent, h, type PropType, shallowRef, type SlotsType, watchPostEffect } from "vue";
import type { EvidenceChatElement } from "./define.js";
import {
  assignProperties,
  attributeName,
  type EvidenceChatAttributes,
  type EvidenceChatProperties,
} from "./element/attributes.js";
import type { EvidenceChatEventMap } from "./element/events.js";

import "./define.js";

export type { EvidenceChatElement };
export type { EvidenceChatAttributes } from "./element/attributes.js";
export type { ContactDetail, EvidenceChatEventMap, MessageDetail, StageDetail } from "./element/events.js";

const text = String;
type Value<Name extends keyof EvidenceChatAttributes> = PropType<NonNullable<EvidenceChatAttributes[Name]>>;

const ATTRIBUTES = {
  answerMode: text as unknown as Value<"answerMode">,
  assistant: text,
  endpoint: text,
  feedback: text as unknown as Value<"feedback">,
  greeting: text,
  heading: text,
  instantResults: text as unknown as Value<"instantResults">,
  lang: text,
  mode: text as unknown as Value<"mode">,
  modelUrl: text,
  position: text as unknown as Value<"position">,
  preload: Boolean,
  reader: text as unknown as Value<"reader">,
  shortcut: text,
  supabaseKey: text,
  supabaseUrl: text,
  supportUrl: text,
  theme: text as unknown as Value<"theme">,
  turnstileSiteKey: text,
  writerModelSha256: text,
  writerModelSize: text,
  writerModelUrl: text,
  writerUrl: text,
} satisfies Record<keyof EvidenceChatAttributes, unknown>;

const PROPERTIES = {
  texts: Object as PropType<EvidenceChatElement["texts"]>,
  tokenProvider: Function as PropType<NonNullable<EvidenceChatElement["tokenProvider"]>>,
  embedderFactory: Function as PropType<NonNullable<EvidenceChatElement["embedderFactory"]>>,
  writerLoader: Function as PropType<NonNullable<EvidenceChatElement["writerLoader"]>>,
} as const;

/**
 * The widget. Its events have the element's events as their argument; `class`, `style` and other attributes are passed on. The
 * component's instance has `open()`, `close()`, `ask(question)`, `clear()` and `element`.
 */
export const EvidenceChat = defineComponent({
  name: "EvidenceChat",
  props: { ...ATTRIBUTES, ...PROPERTIES },
  emits: {
    ready: (event: EvidenceChatEventMap["ready"]) => event instanceof Event,
    message: (event: EvidenceChatEventMap["message"]) => event instanceof Event,
    refusal: (event: EvidenceChatEventMap["refusal"]) => event instanceof Event,
    contact: (event: EvidenceChatEventMap["contact"]) => event instanceof Event,
    "citation-open": (event: EvidenceChatEventMap["citation-open"]) => event instanceof Event,
    stage: (event: EvidenceChatEventMap["stage"]) => event instanceof Event,
    error: (event: EvidenceChatEventMap["error"]) => event instanceof Event,
  },
  slots: Object as SlotsType<{ /** Greeting before the first question. */ default: object }>,
  setup(props) {
    const element = shallowRef<EvidenceChatElement | null>(null);
    let before: EvidenceChatProperties = {};
    watchPostEffect(() => {
      const { tokenProvider, embedderFactory, writerLoader } = props;
      // A copy, so that a change inside a reactive object runs this again.
      const texts = props.texts && { ...props.texts };
      const given = { texts, tokenProvider, embedderFactory, writerLoader } as EvidenceChatProperties;
      if (!element.value) return;
      assignProperties(element.value, given, before);
      before = given;
    });
    return {
      element,
      open: () => element.value?.open(),
      close: () => element.value?.close(),
      ask: (question: string) => element.value?.ask(question) ?? Promise.resolve(),
      clear: () => element.value?.clear(),
    };
  },
  render() {
    const listeners = {
      onReady: (event: EvidenceChatEventMap["ready"]) => this.$emit("ready", event),
      onMessage: (event: EvidenceChatEventMap["message"]) => this.$emit("message", event),
      onRefusal: (event: EvidenceChatEventMap["refusal"]) => this.$emit("refusal", event),
      onContact: (event: EvidenceChatEventMap["contact"]) => this.$emit("contact", event),
      onCitationOpen: (event: EvidenceChatEventMap["citation-open"]) => this.$emit("citation-open", event),
      onStage: (event: EvidenceChatEventMap["stage"]) => this.$emit("stage", event),
      onError: (event: EvidenceChatEventMap["error"]) => this.$emit("error", event),
    };
    return h(
      "evidence-chat",
      { ...attributesOf(this.$props), ref: "element", ...listeners },
      this.$slots.default?.({}),
    );
  },
});

/** Registers `<EvidenceChat>` in all templates: `app.use(EvidenceChatPlugin)`. */
export const EvidenceChatPlugin = {
  install(app: App): void {
    app.component("EvidenceChat", EvidenceChat);
  },
};

function attributesOf(props: Readonly<Partial<Record<keyof EvidenceChatAttributes, string | boolean | undefined>>>) {
  const attributes: Record<string, string | undefined> = {};
  for (const name of Object.keys(ATTRIBUTES) as (keyof EvidenceChatAttributes)[]) {
    const value = props[name];
    attributes[attributeName(name)] = value === true ? "" : value === false ? undefined : value;
  }
  return attributes;
}
