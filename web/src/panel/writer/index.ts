/** The part of the panel that loads only on sites whose answers may be written on the visitor's device. */
import styles from "./writer.css";

export { OnDevice } from "./on-device.js";
export { styles };
