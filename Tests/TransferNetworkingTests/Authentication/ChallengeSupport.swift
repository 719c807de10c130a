import Foundation
import FoundationNetworking
import Synchronization
import Testing
import TransferCore
import TransferTestServer

@testable import TransferNetworking

/// Asks for Basic credentials, and answers `body length` once it has them.
func requireBasic(
    _ server: TestServer, _ pattern: String, user: String = "user", password: String = "pass", realm: String? = "r"
) {
    let wanted = HTTPHeader.authorization(username: user, password: password).value
    server.handle(nil, pattern) { request in
        guard request.headers["Authorization"] == wanted else {
            let parameter = realm.map { " realm=\"\($0)\"" } ?? ""
            return Response(status: 401, headers: ["WWW-Authenticate": "Basic\(parameter)"], body: .text("who?"))
        }
        return Response(body: .text("\(request.method) \(request.body.count)"))
    }
}

extension TestServer {
    /// Returns the Authorization fields of a path's requests in order.
    func authorizations(_ path: String) -> [String?] { requests(to: path).map { $0.headers["Authorization"] } }
    /// Returns the schemes of the Authorization fields; `-` for none.
    func authorizationSchemes(_ path: String) -> [String] {
        authorizations(path).map { $0?.split(separator: " ").first.map(String.init) ?? "-" }
    }
}

/// A session whose proxies are as given, whatever the environment says.
func makeSession(_ change: (inout SessionSettings) -> Void) -> Session {
    var settings = SessionSettings()
    settings.loops = 1
    settings.proxies = .none
    change(&settings)
    return Session(settings)
}

/// Records the challenges that a session's monitors receive.
final class ChallengeMonitor: EventMonitor {
    let queue = DispatchQueue(label: "challenges")
    let calls = Calls<Seen>()

    struct Seen: Sendable {
        let host: String
        let port: Int
        let realm: String?
        let method: String
        let user: String?
        let failures: Int
        let status: Int?
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge) {
        let space = challenge.protectionSpace
        calls.add(
            Seen(
                host: space.host, port: space.port, realm: space.realm, method: space.authenticationMethod,
                user: challenge.proposedCredential?.user, failures: challenge.previousFailureCount,
                status: (challenge.failureResponse as? HTTPURLResponse)?.statusCode))
    }
}
