import TransferCore

extension JobDecoder {
    static let retryLimits = 0...1_000_000
    static let retryBases = 2...100
    static let statusCodes = 100...599
    static let redirectLimits = 0...100

    /// 0 is no limit, as in curl and aria2; so a job can lift the one of its batch.
    mutating func rateLimit() throws(JSONFault) -> Int64? {
        let value = try byteCount()
        return value == 0 && !isTrusted ? nil : value
    }
}
