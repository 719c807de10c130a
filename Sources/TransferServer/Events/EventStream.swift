import Hummingbird
import NIOCore
import TransferQueue

/// One client that follows the events.
struct EventStream: Sendable {
    let served: ServedQueue
    let feed: EventFeed
    let filter: EventFilter
    let seat: EventFeed.Seat
    /// The end behind which the client wants to go on; `nil` for what happens from now on.
    let after: Int64?

    func write(to writer: inout any ResponseBodyWriter) async throws {
        var (place, reported) = (seat.place, seat.cursor)
        try await hello(reported, &writer)
        if let after {
            if after > reported {
                try await send("reset", data: Array("{\"event\":\"reset\"}".utf8), cursor: reported, &writer)
            } else {
                try await catchUp(from: after, to: reported, &writer)
            }
        }
        while true {
            switch await feed.portion(from: place) {
            case .over: return
            case .behind:
                // The ends between are in the database; the other news are old.
                let present = feed.present
                try await catchUp(from: reported, to: present.cursor, &writer)
                (place, reported) = present
            case .frames(let frames, let next):
                place = next
                var buffer = ByteBuffer()
                for frame in frames {
                    reported = max(reported, frame.cursor ?? 0)
                    if filter.admits(frame) { Self.append(frame, to: &buffer) }
                }
                if buffer.readableBytes > 0 { try await writer.write(buffer) }
            }
        }
    }

    private func hello(_ cursor: Int64, _ writer: inout any ResponseBodyWriter) async throws {
        let data = CanonicalWriter.bytes { writer in
            writer.member("event", "hello")
            writer.member("cursor", String(cursor))
        }
        // Without the cursor as its id: who comes back with an older one wants what is between.
        try await send("hello", data: data, cursor: after == nil ? cursor : nil, &writer)
    }

    /// Sends the ends between two cursors, a page at a time.
    private func catchUp(from first: Int64, to last: Int64, _ writer: inout any ResponseBodyWriter) async throws {
        var cursor = first
        while cursor < last {
            let events = try await served.look { [cursor] in try $0.ends(after: cursor, limit: Self.page) }
            guard let end = events.last?.cursor else { return }
            var buffer = ByteBuffer()
            for event in events where (event.cursor ?? 0) <= last {
                if let frame = EventJSON.frame(event), filter.admits(frame) { Self.append(frame, to: &buffer) }
            }
            if buffer.readableBytes > 0 { try await writer.write(buffer) }
            cursor = end
        }
    }

    private static let page = 256

    private func send(
        _ name: String, data: [UInt8], cursor: Int64?, _ writer: inout any ResponseBodyWriter
    ) async throws {
        var buffer = ByteBuffer()
        Self.append(EventFeed.Frame(cursor: cursor, name: name, batch: "", data: data), to: &buffer)
        try await writer.write(buffer)
    }

    private static func append(_ frame: EventFeed.Frame, to buffer: inout ByteBuffer) {
        guard !frame.name.isEmpty else {
            buffer.writeString(":\n\n")
            return
        }
        if let cursor = frame.cursor { buffer.writeString("id: \(cursor)\n") }
        buffer.writeString("event: \(frame.name)\ndata: ")
        buffer.writeBytes(frame.data)
        buffer.writeString("\n\n")
    }
}
