import HTTPTypes
import Hummingbird
import TransferQueue

/// The routes that pause, resume, cancel and retry jobs, change their order, and clear ended ones from lists.
struct SteerRoutes: Sendable {
    let steering: SteeringService
    let order: TurnOrder
    let cleared: ClearedEnds

    func add(to routes: RouterGroup<ServerContext>) {
        routes.post("steer") { request, _ in try await steer(request) }
        routes.post("move") { request, _ in try await move(request) }
        routes.post("clear") { request, _ in try await clear(request) }
    }

    private func steer(_ request: Request) async throws -> Response {
        let body = try await JSONBody.object(request)
        guard let word = body["action"]?.text, let verb = QueueVerb(rawValue: word) else {
            throw Problem(
                .unprocessableContent, "badAction", "\"action\" is one of pause, resume, cancel, retry and retryFailed")
        }
        try Self.check(body, keys: ["action", "select"])
        return answer(try await steering.steer(verb, try Self.selection(body)))
    }

    private func move(_ request: Request) async throws -> Response {
        let body = try await JSONBody.object(request)
        try Self.check(body, keys: ["to", "gids"])
        guard let place = body["to"]?.text.flatMap({ TurnOrder.Place(rawValue: $0) }) else {
            throw Problem(.unprocessableContent, "badPlace", "\"to\" is one of first, last, up and down")
        }
        let gids = body["gids"]?.elements
        guard let gids, let names = Optional(gids.compactMap(\.text)), names.count == gids.count,
            (1...TurnOrder.mostJobs).contains(names.count)
        else {
            throw Problem(
                .unprocessableContent, "badSelection", "\"gids\" is a list of 1 to \(TurnOrder.mostJobs) names")
        }
        return answer(try await order.move(names, place))
    }

    private func clear(_ request: Request) async throws -> Response {
        let body = try await JSONBody.object(request)
        try Self.check(body, keys: ["select"])
        return answer(try await steering.clear(try Self.selection(body), from: cleared))
    }

    /// Refuses unknown keys: one of them may be a condition that would have spared jobs.
    private static func check(_ body: JSONValue, keys: Set<String>) throws {
        if let stranger = body.members?.keys.sorted().first(where: { !keys.contains($0) }) {
            throw Problem(.unprocessableContent, "badAction", "unknown key \(Wording.quoted(stranger))")
        }
    }

    private static func selection(_ body: JSONValue) throws -> SteeringService.Selection {
        guard let select = body["select"] else {
            throw Problem(
                .unprocessableContent, "badSelection", "\"select\" says which jobs are meant",
                hint: "everything is written out: \"select\": \"all\"")
        }
        return try SteeringService.selection(select)
    }

    private func answer(_ result: SteeringService.Result) -> Response {
        .json { writer in
            writer.member("matched", result.matched)
            writer.member("changed", result.changed)
        }
    }
}

/// The reader of bodies that are one JSON object.
enum JSONBody {
    static let mostBytes = 1 << 20

    /// Reads the body of a request.
    ///
    /// - Throws: A 400 for a body that is not JSON, a 422 for another kind of value.
    static func object(_ request: Request) async throws -> JSONValue {
        if let type = request.mediaType, type != "application/json", type != "application/merge-patch+json" {
            throw Problem(.unsupportedMediaType, "mediaType", "the body is application/json")
        }
        let value: JSONValue
        do {
            value = try JSONValue(try await request.bytes(upTo: mostBytes))
        } catch let fault as JSONFault {
            throw Problem.malformed(fault.message)
        }
        guard value.members != nil else {
            throw Problem(.unprocessableContent, "badBody", "the body is one object")
        }
        return value
    }
}
