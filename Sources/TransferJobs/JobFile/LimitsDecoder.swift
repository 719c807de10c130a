import TransferCore

/// The reader of a batch's limits.
package enum LimitsDecoder {
    package static func read(_ decoder: inout JobDecoder, into limits: inout BatchLimits) throws(JSONFault) {
        _ = try decoder.object(LimitKey.table, place: "limits") { (decoder, key) throws(JSONFault) in
            switch key {
            case .concurrency: limits.concurrency = try decoder.integer(FieldRanges.concurrencies)
            case .perHost: limits.perHost = try perHost(&decoder)
            case .limitRate: limits.limitRate = try decoder.rateLimit()
            case .requestRate: limits.requestRate = try requestRate(&decoder)
            }
        }
    }

    /// Reads a number, or `"auto"`.
    package static func perHost(_ decoder: inout JobDecoder) throws(JSONFault) -> PerHost? {
        switch try decoder.reader.kind() {
        case .number: return try decoder.integer(FieldRanges.concurrencies).map(PerHost.exactly)
        case .string:
            let text = try decoder.reader.string()
            if decoder.reader.string(text) == PerHost.automaticWord { return .automatic }
            decoder.note("expected a number or \"auto\"", text.token)
            return nil
        case let kind:
            try decoder.mismatch("a number or \"auto\"", kind)
            return nil
        }
    }

    /// Reads a request rate: `"20/s"`, `"100/m"`, `"500/h"`, or a number a second.
    package static func requestRate(_ decoder: inout JobDecoder) throws(JSONFault) -> Double? {
        let kind = try decoder.reader.kind()
        let start = decoder.reader.offset
        var rate: Double?
        switch kind {
        case .number: rate = decoder.reader.double(try decoder.reader.number())
        case .string: rate = requestRate(decoder.reader.string(try decoder.reader.string()))
        default:
            try decoder.mismatch("a rate such as \"20/s\"", kind)
            return nil
        }
        guard let rate, rate > 0, rate <= 1_000_000 else {
            decoder.note(
                "not a rate of requests; write \"20/s\", \"100/m\" or a number a second", start..<decoder.reader.offset)
            return nil
        }
        return rate
    }

    package static func requestRate(_ text: String) -> Double? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, first.first?.isNumber == true, let count = Double(first) else { return nil }
        switch parts.dropFirst().joined(separator: "/") {
        case "s" where parts.count == 2: return count
        case "m" where parts.count == 2: return count / 60
        case "h" where parts.count == 2: return count / 3600
        case "" where parts.count == 1: return count
        default: return nil
        }
    }
}
