import type { ChannelOptions } from "@grpc/grpc-js";
import structMessages from "google-protobuf/google/protobuf/struct_pb.js";
import type { PropertyMap } from "../../../stack/values/value.ts";
import { fromWire, toWire, type WireMap, type WireOptions } from "../../../stack/values/wire.ts";

const maxMessageBytes = 400 * 1024 * 1024;

/** As Pulumi's own: messages up to 400 MB, and no proxy between processes of one machine. */
export const channelOptions: ChannelOptions = {
  "grpc.max_receive_message_length": maxMessageBytes,
  "grpc.max_send_message_length": maxMessageBytes,
  "grpc.enable_http_proxy": 0,
  // No call may be sent twice, and nobody looks at the statistics.
  "grpc.enable_retries": 0,
  "grpc.enable_channelz": 0,
  "grpc.server_max_unrequested_time_in_server": 30 * 60,
};

/** Properties in the protocol. None are as an empty map. */
export type Properties = { toJavaScript(): WireMap } | undefined;

export function readProperties(struct: Properties): PropertyMap {
  return fromWire(struct?.toJavaScript() ?? {});
}

export function writeProperties(map: PropertyMap, options: WireOptions): structMessages.Struct {
  return structMessages.Struct.fromJavaScript(toWire(map, options));
}
