import { createApp } from "vue";
import SupportChat from "./SupportChat.vue";

/** Whatever signs visitors in on your site. */
async function getToken(): Promise<string | null> {
  return sessionStorage.getItem("access-token");
}

createApp(SupportChat, { endpoint: "/api/chat", getToken }).mount("#app");
