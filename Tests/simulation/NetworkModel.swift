import TransferCore

@testable import TransferEngine

/// The network between the process and its servers, which decides the fate of each request.
final class NetworkModel {
    /// The fate of one request. A share is the part of the body's bytes that passes, from 0 to 1.
    enum Fate: Equatable {
        case good
        case noConnection
        case cutRequest(Double)
        /// The server did its work, and its answer is lost.
        case lostAnswer
        case silence
        case cutAnswer(Double)
        /// The server, or a gateway in front of it, answers with this status before it does its work.
        case refused(Int)
        /// The server did its work, and a gateway answers with this status.
        case hidden(Int)
    }

    /// The servers by host and port.
    var servers: [String: ServerModel] = [:]
    /// The number of requests in a hundred that something happens to.
    var troubles = 0

    func fate(of hop: Hop) -> Fate {
        let fate = World.current.chance(troubles, in: 100) ? trouble() : .good
        Coverage.count(fate)
        return fate
    }

    private func trouble() -> Fate {
        let world = World.current
        let share = Double(world.between(0, 1000)) / 1000
        return switch world.between(0, 7) {
        case 0: .noConnection
        case 1: .cutRequest(share)
        case 2: .lostAnswer
        case 3: .silence
        case 4, 5: .cutAnswer(share)
        case 6: .refused(world.oneOf([500, 502, 503, 504, 429]))
        default: .hidden(world.oneOf([502, 503, 504]))
        }
    }

    func answer(_ hop: Hop, _ body: [UInt8], _ fate: Fate) -> ServerModel.Answer {
        if case .refused(let status) = fate { return Self.refusal(status) }
        guard let (server, request) = request(hop, body) else { return Self.refusal(404) }
        let answer = server.answer(request)
        if case .hidden(let status) = fate { return Self.refusal(status) }
        return answer
    }

    /// Lets the beginning of a request arrive, whose connection was lost.
    func begin(_ hop: Hop, _ body: [UInt8]) {
        guard let (server, request) = request(hop, body) else { return }
        server.begin(request)
    }

    private func request(_ hop: Hop, _ body: [UInt8]) -> (ServerModel, ServerModel.Request)? {
        let parts = hop.url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true)
        guard parts.count == 3, let server = servers[String(parts[1])] else { return nil }
        return (
            server,
            ServerModel.Request(
                method: hop.method, host: String(parts[1]), path: "/" + parts[2], headers: hop.headers, body: body)
        )
    }

    private static func refusal(_ status: Int) -> ServerModel.Answer {
        ServerModel.Answer(status: status, fields: [HeaderField("Content-Length", "0")])
    }
}
