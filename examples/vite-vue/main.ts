import { createApp } from "vue";
import SupportChat from "./SupportChat.vue";

/** Replace with your site's sign-in. */
async function getToken(): Promise<string | null> {
  return sessionStorage.getItem("access-token");
}

createApp(SupportChat, { endpoint: "/api/chat", getToken }).mount("#app");
