import Foundation
import Synchronization
import TransferTestServer

/// The server's side of NTLM's three messages (MS-NLMP). The name in the last message assigns the connection to a user.
final class NTLMServer: Sendable {
    private let users = Mutex<[Int: String]>([:])
    private let accepted: Set<String>

    init(accepting accepted: Set<String>) { self.accepted = accepted }

    func serve(_ server: TestServer, _ pattern: String) {
        server.handle(nil, pattern) { [self] request in answer(request) }
    }

    private func answer(_ request: TransferTestServer.Request) -> Response {
        guard let field = request.headers["Authorization"] else {
            // NTLM authenticates the connection, and not the request.
            if let user = users.withLock({ $0[request.connection] }) { return welcome(user, request) }
            return refusal("NTLM")
        }
        guard field.hasPrefix("NTLM "), let bytes = Data(base64Encoded: String(field.dropFirst(5))),
            bytes.starts(with: Data("NTLMSSP\0".utf8)), bytes.count > 12
        else { return refusal("NTLM") }
        switch bytes[8] {
        case 1: return refusal("NTLM " + Self.challenge.base64EncodedString())
        case 3:
            guard let user = Self.user(in: [UInt8](bytes)), accepted.contains(user) else { return refusal("NTLM") }
            users.withLock { $0[request.connection] = user }
            return welcome(user, request)
        default: return refusal("NTLM")
        }
    }

    private func welcome(_ user: String, _ request: TransferTestServer.Request) -> Response {
        Response(body: .text("\(user) \(request.body.count)"))
    }

    private func refusal(_ challenge: String) -> Response {
        Response(status: 401, headers: ["WWW-Authenticate": challenge], body: .text("who?"))
    }

    /// CHALLENGE_MESSAGE: Unicode, NTLM, target information that is empty.
    private static let challenge: Data = {
        var message = Data("NTLMSSP\0".utf8) + [2, 0, 0, 0]
        message += [0, 0, 0, 0, 48, 0, 0, 0]
        message += [0x01, 0x02, 0x80, 0x00]
        message += [1, 2, 3, 4, 5, 6, 7, 8] + [UInt8](repeating: 0, count: 8)
        message += [4, 0, 4, 0, 48, 0, 0, 0]
        return message + [0, 0, 0, 0]
    }()

    /// The name in an AUTHENTICATE_MESSAGE: its length at 36, its place at 40, in UTF-16.
    private static func user(in message: [UInt8]) -> String? {
        guard message.count >= 44 else { return nil }
        let length = Int(message[36]) | Int(message[37]) << 8
        let offset = Int(message[40]) | Int(message[41]) << 8
        guard offset + length <= message.count else { return nil }
        return String(bytes: message[offset..<offset + length], encoding: .utf16LittleEndian)
    }
}
