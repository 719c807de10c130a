import TransferCore
import TransferCrypto

/// Answers to challenges of the scheme Digest (RFC 7616; MD5 as in RFC 2617 too).
struct DigestAccess: Sendable, Hashable {
    enum Protection: String, Sendable { case auth, authInt = "auth-int" }

    /// The request that is to be authorised.
    struct Message {
        let method: String
        /// The request target: path and query.
        let target: String
        /// The bytes of the body; `nil` where they are not in memory, so that `auth-int` is impossible.
        let body: [UInt8]?
    }

    let algorithm: DigestAlgorithm
    let isSession: Bool
    let realm: String
    var nonce: String
    private let algorithmName: String?
    private let opaque: String?
    private let protections: [String]?
    private let hashesUser: Bool
    private let isUTF8: Bool

    /// Creates the scheme that a challenge asks for.
    ///
    /// - Returns: `nil` for a challenge that cannot be answered: an unknown algorithm, no nonce, an unknown protection.
    init?(_ challenge: AuthenticationChallenge) {
        guard challenge.scheme == "digest", let nonce = challenge.parameters["nonce"], let realm = challenge.realm
        else { return nil }
        let name = challenge.parameters["algorithm"]
        switch (name ?? "MD5").lowercased() {
        case "md5": (algorithm, isSession) = (.md5, false)
        case "md5-sess": (algorithm, isSession) = (.md5, true)
        case "sha-256": (algorithm, isSession) = (.sha256, false)
        case "sha-256-sess": (algorithm, isSession) = (.sha256, true)
        default: return nil
        }
        algorithmName = name
        self.nonce = nonce
        self.realm = realm
        opaque = challenge.parameters["opaque"]
        protections = challenge.parameters["qop"].map { list in
            list.lowercased().split { $0 == "," || $0 == " " }.map(String.init)
        }
        if let protections, !protections.contains(where: { Protection(rawValue: $0) != nil }) { return nil }
        hashesUser = challenge.parameters["userhash"]?.lowercased() == "true"
        isUTF8 = challenge.parameters["charset"]?.lowercased() == "utf-8"
    }

    /// Returns the nonce that the answer to an authorised request gives for the next one (RFC 7616 §3.5).
    static func nextNonce(_ head: ResponseHead) -> String? {
        head.value("Authentication-Info").flatMap {
            AuthenticationChallenge.parse("Digest \($0)").first?.parameters["nextnonce"]
        }
    }

    /// The rank of the scheme; a larger number is stronger.
    var strength: Int { (algorithm == .sha256 ? 2 : 0) + (isSession ? 1 : 0) }

    /// Returns the value of the Authorization field.
    ///
    /// - Parameters:
    ///   - count: The number of requests that were authorised with the nonce, this one included.
    ///   - clientNonce: An unpredictable hexadecimal text.
    /// - Returns: `nil` when the server insists on the body's integrity and the body is not in memory, and when OpenSSL
    ///   refuses the algorithm.
    func authorization(
        user: String, password: String, for message: Message, count: UInt32, clientNonce: String
    ) -> String? {
        guard let hash = try? Hasher(algorithm) else { return nil }
        let protection = choose(message)
        if protections != nil, protection == nil { return nil }
        var secret = hash.hex("\(user):\(realm):\(password)")
        if isSession { secret = hash.hex("\(secret):\(nonce):\(clientNonce)") }
        var request = "\(message.method):\(message.target)"
        if protection == .authInt { request += ":\(hash.hex(message.body ?? []))" }
        let counted = Self.eightDigits(count)
        let middle = protection.map { ":\(counted):\(clientNonce):\($0.rawValue)" } ?? ""
        let response = hash.hex("\(secret):\(nonce)\(middle):\(hash.hex(request))")

        var parts = [userPart(user, hash), "realm=\(Self.quoted(realm))", "nonce=\(Self.quoted(nonce))"]
        parts.append("uri=\(Self.quoted(message.target))")
        parts.append("response=\"\(response)\"")
        if let algorithmName { parts.append("algorithm=\(algorithmName)") }
        if let protection {
            parts.append("qop=\(protection.rawValue), nc=\(counted), cnonce=\"\(clientNonce)\"")
        } else if isSession {
            parts.append("cnonce=\"\(clientNonce)\"")
        }
        if let opaque { parts.append("opaque=\(Self.quoted(opaque))") }
        if hashesUser { parts.append("userhash=true") }
        return "Digest " + parts.joined(separator: ", ")
    }

    /// Chooses the protection: `auth` wherever it is offered, as it does not read the body, which may be a stream.
    private func choose(_ message: Message) -> Protection? {
        guard let protections else { return nil }
        if protections.contains(Protection.auth.rawValue) { return .auth }
        return message.body == nil ? nil : .authInt
    }

    /// Returns the parameter with the user's name.
    ///
    /// A name beyond ASCII is encoded by RFC 7616 §3.4 where the server says that it reads UTF-8.
    private func userPart(_ user: String, _ hash: Hasher) -> String {
        if hashesUser { return "username=\"\(hash.hex("\(user):\(realm)"))\"" }
        guard isUTF8, !user.utf8.allSatisfy({ $0 < 0x80 }) else { return "username=\(Self.quoted(user))" }
        let encoded = user.utf8.map { byte -> String in
            let isPlain = (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            return isPlain
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16).uppercased()
        }
        return "username*=UTF-8''\(encoded.joined())"
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] } + "\""
    }

    private static func eightDigits(_ number: UInt32) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// The function H(…) of the RFC, in hexadecimal.
    private struct Hasher {
        let algorithm: DigestAlgorithm

        /// Creates the function for an algorithm.
        ///
        /// - Throws: An error where OpenSSL lacks the algorithm, as it lacks MD5 under a FIPS provider.
        init(_ algorithm: DigestAlgorithm) throws {
            self.algorithm = algorithm
            _ = try Digest(algorithm)
        }

        func hex(_ text: String) -> String { hex(Array(text.utf8)) }

        func hex(_ bytes: [UInt8]) -> String {
            guard let digest = try? Digest(algorithm) else { return "" }
            bytes.withUnsafeBytes { digest.update($0) }
            return (try? digest.finish())?.hex ?? ""
        }
    }
}
