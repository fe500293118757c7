import "@evidence-chat/widget/define";

const chat = document.createElement("evidence-chat");
chat.setAttribute("endpoint", "/api/chat");
chat.setAttribute("heading", "Ask our handbook");
// Replace with your site's sign-in.
chat.tokenProvider = async () => sessionStorage.getItem("access-token");
document.body.append(chat);
