package import TransferCore

/// The field `Repr-Digest` (RFC 9530 §3).
package enum ReprDigest {
    /// The algorithms that are not deprecated, the strongest first.
    private static let names: [(key: String, algorithm: DigestAlgorithm)] = [
        ("sha-512", .sha512), ("sha-256", .sha256),
    ]

    /// Returns the field for a known digest; `nil` for algorithms that must no longer be used (§5).
    static func field(_ digest: Checksum) -> HeaderField? {
        guard let key = names.first(where: { $0.algorithm == digest.algorithm })?.key else { return nil }
        let digits = Array(digest.hex.utf8)
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
        return HeaderField("Repr-Digest", "\(key)=:\(Base64.encode(bytes)):")
    }

    /// Returns the digest of the whole file that a server sends with its bytes.
    ///
    /// The field is `Repr-Digest`, or `Content-Digest` where the answer is the whole (RFC 9530 §2 and §3). Insecure and
    /// unknown algorithms are ignored.
    ///
    /// - Parameter trailers: The fields behind the body, where both fields may be (§2, §3).
    /// - Returns: The strongest digest, with the name of its field.
    package static func ofFile(
        _ head: ResponseHead, trailers: [HeaderField] = []
    ) -> (digest: Checksum, field: String)? {
        let late = trailers.filter { $0.isNamed("Repr-Digest") || $0.isNamed("Content-Digest") }
        if !late.isEmpty { return ofFile(ResponseHead(status: head.status, fields: head.fields + late)) }
        if let digest = value(head, preferred: nil) { return (digest, "Repr-Digest") }
        guard head.status == 200, let digest = value(head, "Content-Digest", preferred: nil) else { return nil }
        return (digest, "Content-Digest")
    }

    /// Returns the SHA-256 of a copy's source that its server sends with the bytes. Other digests are not made of them.
    package static func ofSource(_ head: ResponseHead) -> Checksum? {
        let found =
            value(head, preferred: .sha256)
            ?? (head.status == 200 ? value(head, "Content-Digest", preferred: .sha256) : nil)
        return found?.algorithm == .sha256 ? found : nil
    }

    /// The field that requests a digest, by the supported algorithms.
    package static let request = HeaderField("Want-Repr-Digest", "sha-256=10, sha-512=5")

    /// Returns a digest in a field.
    ///
    /// - Parameter preferred: The algorithm to prefer, because its digest can be compared.
    package static func value(
        _ head: ResponseHead, _ name: StaticString = "Repr-Digest", preferred: DigestAlgorithm?
    ) -> Checksum? {
        // Most answers have no such field.
        guard head.value(name) != nil, let field = ResumableFields.joined(head.fields, "\(name)"),
            StructuredField.dictionary(field) != nil
        else { return nil }
        let members = head.fields.filter { $0.isNamed("\(name)") }.map { StructuredField.dictionary($0.value) ?? [:] }
        let digests = names.compactMap { name -> Checksum? in
            let values = Set(
                members.compactMap { members in
                    if case .bytes(let bytes) = members[name.key] { bytes } else { nil }
                })
            // Two field lines with different digests contradict each other.
            guard values.count == 1, let bytes = values.first else { return nil }
            let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return Checksum(name.algorithm, hex: hex)
        }
        return digests.first { $0.algorithm == preferred } ?? digests.first
    }
}
