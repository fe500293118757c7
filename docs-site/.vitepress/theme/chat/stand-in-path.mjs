/** The address of the stand-in, below the root of the site. Apart from it, so that a site with a chat server does not load it. */
export const STAND_IN_PATH = "stand-in/api/chat";
