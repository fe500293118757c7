// Paths for `icon`, drawn on a 24 × 24 grid with a round 2-unit stroke. Each is an export of its own, so that a bundle has only
// those that it uses.

export const alert = "M12 8v5M12 16.5v.01M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18";
export const back = "M15 6l-6 6l6 6";
export const check = "M5 12.5l4.5 4.5L19 7.5";
export const chevron = "M6 9l6 6l6-6";
export const close = "M6 6l12 12M18 6L6 18";
export const copy = "M9 9h10v11H9zM15 9V4H5v11h4";
export const download = "M12 4v11M7 10.5l5 5l5-5M5 20h14";
export const external = "M14 4h6v6M20 4l-9 9M18 14v5a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V7a1 1 0 0 1 1-1h5";
export const history = "M4 12a8 8 0 1 0 2.6-5.9M4 4v5h5M12 8v4.5l3 2";
export const info = "M12 11v5.5M12 7.5v.01M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18";
export const markdown = "M4 18V7l4 5l4-5v11M17.5 7v10M14.5 14l3 3.5l3-3.5";
export const pencil = "M5 19l1-4L16.5 4.5l3 3L9 18zM14 7l3 3";
export const plus = "M12 5v14M5 12h14";
export const quote =
  "M5 5h14a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1h-7l-5 4v-4H5a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1M8.5 9.5h7M8.5 13h4";
export const retry = "M4 12a8 8 0 1 1 2.6 5.9M4 20v-5h5";
export const send = "M12 19V5M6 11l6-6l6 6";
export const stop = "M7 7h10v10H7z";
export const trash = "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13";
export const thumb =
  "M4 11h3v9H4zM7 11l4-7.5c1.9 0 2.7 1.3 2.2 3.1L12.3 10H18a2 2 0 0 1 2 2.4l-1.3 6A2 2 0 0 1 16.7 20H7";
