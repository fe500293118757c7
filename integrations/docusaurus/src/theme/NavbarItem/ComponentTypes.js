import ComponentTypes from "@theme-init/NavbarItem/ComponentTypes";
import EvidenceChatNavbarItem from "./EvidenceChatNavbarItem.js";

export default { ...ComponentTypes, "custom-evidenceChat": EvidenceChatNavbarItem };
