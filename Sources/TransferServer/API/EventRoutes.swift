import HTTPTypes
import Hummingbird
import NIOCore
import TransferQueue

/// The route for events as they happen (Server-Sent Events, HTML Living Standard §9.2), starting after any end of a
/// job.
struct EventRoutes: Sendable {
    let served: ServedQueue
    let feed: EventFeed

    func add(to routes: RouterGroup<ServerContext>) {
        routes.get("events") { request, _ in try await events(request) }
    }

    private func events(_ request: Request) async throws -> Response {
        var cursor = try request.query("after", in: 0...Int.max).map(Int64.init)
        if let name = HTTPField.Name("Last-Event-ID"), let text = request.headers[name] {
            guard let last = Int64(text), last >= 0 else { throw Problem.malformed("no such Last-Event-ID") }
            cursor = last
        }
        let filter = EventFilter(types: request.query("types"), batch: request.query("batch"))
        if request.headers[.accept]?.contains("application/x-ndjson") == true {
            return try await finished(after: cursor ?? 0, filter)
        }
        guard let seat = feed.join() else {
            throw Problem.unavailable("tooManyStreams", "too many clients follow the events")
        }
        let stream = EventStream(served: served, feed: feed, filter: filter, seat: seat, after: cursor)
        let body = ResponseBody { writer in
            try await stream.write(to: &writer)
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
    }

    /// Returns the recorded ends of jobs as lines.
    private func finished(after cursor: Int64, _ filter: EventFilter) async throws -> Response {
        let events = try await served.look { try $0.ends(after: cursor, limit: Self.mostLines) }
        var bytes: [UInt8] = []
        for frame in events.compactMap(EventJSON.frame) where filter.admits(frame) {
            bytes += frame.data
            bytes.append(UInt8(ascii: "\n"))
        }
        return .plain(type: "application/x-ndjson", bytes: bytes)
    }

    private static let mostLines = 10_000
}

/// The selection of events that a client requests.
struct EventFilter: Sendable {
    private let types: [String]
    private let batch: String?

    /// Creates a filter.
    ///
    /// - Parameter types: Names separated by commas; a prefix of a name selects all names that begin with it.
    init(types: String?, batch: String?) {
        self.types = (types ?? "").split(separator: ",").map(String.init)
        self.batch = batch
    }

    func admits(_ frame: EventFeed.Frame) -> Bool {
        if frame.name.isEmpty { return true }
        if let batch, frame.batch != batch { return false }
        return types.isEmpty || types.contains { frame.name.hasPrefix($0) }
    }
}
