/** Paths for `icon`, drawn on a 24 × 24 grid with a round 2-unit stroke. */
export const ICONS = {
  alert: "M12 8v5M12 16.5v.01M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18",
  chevron: "M6 9l6 6l6-6",
  external: "M14 4h6v6M20 4l-9 9M18 14v5a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V7a1 1 0 0 1 1-1h5",
  plus: "M12 5v14M5 12h14",
  quote: "M5 5h14a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1h-7l-5 4v-4H5a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1M8.5 9.5h7M8.5 13h4",
  retry: "M4 12a8 8 0 1 1 2.6 5.9M4 20v-5h5",
  send: "M12 19V5M6 11l6-6l6 6",
} as const;
