// The built Worker (edge-chat/build/index.js), in whose folder the modules of `startWorker({ entry })` run.
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";

export class UserGate extends DurableObject {
  fetch(request: Request): Promise<Response>;
  alarm(): Promise<void>;
}

export default class extends WorkerEntrypoint {}
