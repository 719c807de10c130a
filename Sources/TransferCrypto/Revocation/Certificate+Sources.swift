import CTransferOpenSSL

extension Certificate {
    /// The `http` URLs of the responders that know whether the certificate is revoked (RFC 6960 §3.1).
    public var responderURLs: [String] {
        guard let strings = transfer_x509_responders(pointer) else { return [] }
        defer { transfer_strings_free(strings) }
        return (0..<transfer_strings_count(strings)).compactMap { index in
            transfer_strings_value(strings, index).flatMap { Self.plainURL(String(cString: $0)) }
        }
    }

    /// The `http` URLs of the revocation lists that would contain the certificate (RFC 5280 §4.2.1.13).
    public var revocationListURLs: [String] {
        guard let points = transfer_x509_list_points(pointer) else { return [] }
        defer { transfer_list_points_free(points) }
        return (0..<transfer_list_points_count(points)).flatMap { index -> [String] in
            guard let names = transfer_list_point_names(points, index) else { return [] }
            return (0..<transfer_names_count(names)).compactMap { index in
                var (type, length): (Int32, Int32) = (0, 0)
                guard let start = transfer_name_bytes(names, index, &type, &length), type == GEN_URI else { return nil }
                return Self.plainURL(
                    String(decoding: UnsafeBufferPointer(start: start, count: Int(length)), as: UTF8.self))
            }
        }
    }

    /// Returns an `http` URL. With `https`, a revocation check would need another one first (RFC 5280 §8), and
    /// responses are signed anyway.
    private static func plainURL(_ text: String) -> String? {
        guard text.lowercased().hasPrefix("http://"), text.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return nil }
        return text
    }
}
