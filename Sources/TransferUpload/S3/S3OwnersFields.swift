import TransferCore

/// The job's own fields, by the requests for which S3 requires them.
struct S3OwnersFields: Sendable, Hashable {
    var signed: [HeaderField] = []
    var unsigned: [HeaderField] = []

    init(_ fields: [HeaderField], for exchange: S3Exchange) {
        for field in fields {
            let name = field.name.lowercased()
            guard !Self.isReserved(name), Self.belongs(name, to: exchange) else { continue }
            if name.hasPrefix("x-amz-") || name.hasPrefix("content-") {
                signed.append(field)
            } else {
                unsigned.append(field)
            }
        }
    }

    /// Returns whether the dialogue or the engine sets the field itself.
    private static func isReserved(_ name: String) -> Bool {
        [
            "authorization", "host", "date", "content-length", "content-md5", "transfer-encoding", "expect",
            "x-amz-date", "x-amz-content-sha256", "x-amz-security-token", "x-amz-sdk-checksum-algorithm",
        ].contains(name) || name.hasPrefix("x-amz-checksum-")
    }

    private static func belongs(_ name: String, to exchange: S3Exchange) -> Bool {
        switch name {
        case "x-amz-request-payer", "x-amz-expected-bucket-owner": return true
        case "if-match", "if-none-match":
            // The condition belongs to the request after which the object exists.
            switch exchange {
            case .put, .complete: return true
            default: return false
            }
        default: break
        }
        let isOfObject =
            name.hasPrefix("x-amz-") || name.hasPrefix("content-") || name == "cache-control" || name == "expires"
        let isCustomersKey = name.hasPrefix("x-amz-server-side-encryption-customer-")
        switch exchange {
        case .put, .create: return true
        case .part, .list, .complete, .head, .fetch: return isCustomersKey || !isOfObject
        case .stray(let stray):
            if case .parts = stray.step { return isCustomersKey || !isOfObject }
            return !isOfObject
        case .abort: return !isOfObject
        }
    }
}
