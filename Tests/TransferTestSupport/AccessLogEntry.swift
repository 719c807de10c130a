/// One request in the access log of nginx.
public struct AccessLogEntry: Sendable, Hashable {
    public var method: String
    /// The request target as the client wrote it, with its query.
    public var uri: String
    public var status: Int
    public var range: String?
    public var ifRange: String?
    /// The number of body bytes that nginx passed to the system. For a killed client they exceed the received bytes by
    /// a few MiB, so find bytes that were fetched twice by `rangeStart`.
    public var bodyBytesSent: Int64
    /// The number of the connection, which identifies requests that shared one.
    public var connection: Int
    public var authorization: String?
    /// The client's address.
    public var remoteAddress: String
    /// The time at which the answer had been sent, in seconds since 1970.
    public var time: Double

    /// The first requested byte, if the request had `Range: bytes=N-…`.
    public var rangeStart: Int64? {
        guard let range, range.hasPrefix("bytes=") else { return nil }
        return Int64(range.dropFirst(6).prefix { $0 != "-" })
    }

    static let format = [
        "$request_method", "$request_uri", "$status", "$http_range", "$http_if_range", "$body_bytes_sent",
        "$connection", "$http_authorization", "$remote_addr", "$msec",
    ].joined(separator: "\\t")

    init(line: Substring) throws {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 10, let status = Int(fields[2]), let sent = Int64(fields[5]), let number = Int(fields[6]),
            let time = Double(fields[9])
        else { throw TestSupportError("no line of our access log: \(line)") }
        method = fields[0]
        uri = fields[1]
        self.status = status
        range = Self.value(fields[3])
        ifRange = Self.value(fields[4])
        bodyBytesSent = sent
        connection = number
        authorization = Self.value(fields[7])
        remoteAddress = fields[8]
        self.time = time
    }

    /// nginx writes a dash for a missing field, and a quotation mark as `\x22`.
    private static func value(_ field: String) -> String? {
        field == "-" ? nil : field.split(separator: "\\x22", omittingEmptySubsequences: false).joined(separator: "\"")
    }
}
