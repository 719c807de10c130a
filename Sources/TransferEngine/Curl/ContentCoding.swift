import CTransferCurl

/// The content codings of responses (RFC 9110 §8.4.1).
public enum ContentCoding {
    /// Those that the loaded libcurl was built to decode, the one that saves most first.
    public static let decodable: [String] = {
        // The oldest form of the answer has the features already.
        guard let features = curl_version_info(CURLVERSION_FIRST)?.pointee.features else { return [] }
        var codings: [String] = []
        if features & (1 << 23) != 0 { codings.append("br") }  // CURL_VERSION_BROTLI
        if features & CURL_VERSION_LIBZ != 0 { codings += ["gzip", "deflate"] }
        return codings
    }()

    /// Whether libcurl decodes a body with this Content-Encoding, all of its codings.
    static func canDecode(_ field: String) -> Bool {
        field.split(separator: ",").allSatisfy { part in
            let name = part.filter { $0 != " " && $0 != "\t" }.lowercased()
            return name == "identity" || known.contains(name) || (name == "x-gzip" && known.contains("gzip"))
        }
    }

    private static let known: Set<String> = {
        let features = curl_version_info(CURLVERSION_FIRST)?.pointee.features ?? 0
        return Set(decodable + (features & (1 << 26) != 0 ? ["zstd"] : []))  // CURL_VERSION_ZSTD
    }()
}
