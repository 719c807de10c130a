import HTTPTypes
import Hummingbird
import TransferQueue

/// Jobs paused, resumed, cancelled and tried again.
struct SteerRoutes: Sendable {
    let steering: SteeringService

    func add(to routes: RouterGroup<ServerContext>) {
        routes.post("steer") { request, _ in try await steer(request) }
    }

    private func steer(_ request: Request) async throws -> Response {
        let body = try await JSONBody.object(request)
        guard let word = body["action"]?.text, let verb = QueueVerb(rawValue: word) else {
            throw Problem(
                .unprocessableContent, "badAction", "\"action\" is one of pause, resume, cancel, retry and retryFailed")
        }
        guard let select = body["select"] else {
            throw Problem(
                .unprocessableContent, "badSelection", "\"select\" says which jobs are meant",
                hint: "everything is written out: \"select\": \"all\"")
        }
        let result = try await steering.steer(verb, try SteeringService.selection(select))
        return .json { writer in
            writer.member("matched", result.matched)
            writer.member("changed", result.changed)
        }
    }
}

/// Bodies that are one JSON object.
enum JSONBody {
    static let mostBytes = 1 << 20

    /// - Throws: A 400 for what is no JSON, a 422 for another value.
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
