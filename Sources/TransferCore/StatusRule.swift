/// The rule for retries after a response that is no success.
public enum StatusRule {
    /// Returns the error for a response.
    ///
    /// - Parameter now: The time in seconds since 1970, for a response without a Date. A date in Retry-After refers to
    ///   the server's clock, which may differ from ours.
    public static func error(_ head: ResponseHead, now: Int64) -> TransferError {
        let sent = head.value("Date").flatMap { HTTPDate.parse($0, now: now) } ?? now
        let retryAfter = head.value("Retry-After").flatMap { RetryRule.retryAfter($0, now: sent) }
        // Some statuses concern the server as a whole, or the path to it; others concern this one file.
        let isOrigin = head.status == 429 || head.status == 511 || (head.status == 503 && retryAfter != nil)
        return TransferError(
            .httpStatus, "\(head.status) \(reason(head.status))", cause: .http(status: head.status),
            isTransient: mayPass(head.status, asksToWait: retryAfter != nil),
            scope: isOrigin ? .origin : .transfer, retryAfter: retryAfter)
    }

    /// Returns whether the body of the response to a GET is the whole file, by the status's class. An unregistered
    /// success counts as 200 (RFC 9110 §15). Other successes belong to other requests, or have no file.
    public static func isWhole(_ status: Int) -> Bool {
        switch status {
        // A success without the whole file has one of several kinds of body. It is a page about a new resource (RFC
        // 9110 §15.3.2, §15.3.3), or empty (§15.3.5, §15.3.6). It may also be a part, a report about several resources
        // (RFC 4918 §11.1), or a difference (RFC 3229 §10.4.1).
        case 201, 202, 204, 205, 206, 207, 226: false
        default: (200..<300).contains(status)
        }
    }

    /// Returns whether a request that does not ask for a file has succeeded, whatever its answer is about (RFC 9110 §15.3).
    /// A GET or HEAD asks for the file, which ``isWhole(_:)`` judges. A 206 needs a range, which such a request has not.
    public static func isDone(_ status: Int, method: String) -> Bool {
        (200..<300).contains(status) && status != 206 && method != "GET" && method != "HEAD"
    }

    /// Returns whether a success states that the server took the file of an upload. A 202 leaves that open (RFC 9110
    /// §15.3.3).
    ///
    /// The rule is stricter than ``isDone(_:method:)`` for PUT: that rule serves requests whose answer is wanted, and a
    /// PUT has stored its file. A 203 has a gateway's content (RFC 9110 §15.3.4), and a 226 answers a GET (RFC 3229
    /// §10.4.1). A 207 and a 208 report about several resources (RFC 4918 §11.1, RFC 5842 §7.1).
    public static func isStored(_ status: Int, method: String) -> Bool {
        guard isDone(status, method: method), status != 202 else { return false }
        return method != "PUT" || ![203, 207, 208, 226].contains(status)
    }

    /// Returns whether the same request may succeed later, by the status's class. An unknown status counts as the x00
    /// of its class, and one outside 100...599 as a 5xx (RFC 9110 §15). Thus 509, 520 to 530 and 599 are like 500.
    public static func mayPass(_ status: Int) -> Bool {
        switch status {
        // A slow connection or one for another host (§15.5.9, §15.5.20), and a lock (RFC 4918 §11.3), are passing. So
        // are early data (RFC 8470 §5.2) and too many requests (RFC 6585 §4).
        case 408, 421, 423, 425, 429: true
        // A request may be impossible for the server (RFC 9110 §15.6.2, §15.6.6), or need an extension (RFC 2774 §7).
        // The server may also be configured in a circle (RFC 2295 §8.1, RFC 5842 §7.2). A 507 may pass, but the request
        // must not be repeated until its user asks for that (RFC 4918 §11.5).
        case 501, 505, 506, 507, 508, 510: false
        // A 511 comes from a network that requires a login (RFC 6585 §6). It is not the server's response, and ends
        // with the login.
        default: status >= 500
        }
    }

    /// Returns whether the same request may succeed later, which includes a 413 that asks to retry later (RFC 9110
    /// §15.5.14).
    public static func mayPass(_ status: Int, asksToWait: Bool) -> Bool {
        mayPass(status) || status == 413 && asksToWait
    }

    /// Returns whether a refusal may concern a URL's signature and not the resource. Services answer in this way once a
    /// signature has expired: 400 and 403 for Google's and Amazon's storage, 401 and 410 elsewhere.
    public static func mayBeOfSignature(_ status: Int) -> Bool { [400, 401, 403, 410].contains(status) }

    /// Returns whether a refusal may concern the field Range, or its condition, and not the file. A server need not
    /// support Range (RFC 9110 §14.2), and some filters refuse every request with it.
    public static func mayBeOfRange(_ status: Int) -> Bool {
        [400, 403, 405, 406, 412, 500, 501, 502, 503].contains(status)
    }

    /// Returns whether the server states that it did nothing, so that any method may be repeated (RFC 9110 §15.5.20,
    /// RFC 6585 §4 and §6). 425 states this of early data alone (RFC 8470 §5.2), which is never sent here.
    public static func saysNothingWasDone(_ status: Int) -> Bool { [421, 429, 511].contains(status) }

    /// Returns whether the response may come from a gateway, so that the server's action is unknown. Gateways send
    /// these statuses and all unregistered ones (Cloudflare's 520 to 530, 598, 599).
    public static func mayBeOfGateway(_ status: Int) -> Bool {
        status == 502 || status == 504 || status >= 500 && phrases[status] == nil
    }

    /// Returns the registered reason phrase (RFC 9110 §15). The received one is the server's text and not shown.
    public static func reason(_ status: Int) -> String { phrases[status] ?? phrases[status / 100] ?? "Unknown" }

    private static let phrases: [Int: String] = [
        1: "Informational", 2: "Success", 3: "Redirection", 4: "Client Error", 5: "Server Error",
        100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints",
        200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
        205: "Reset Content", 206: "Partial Content", 207: "Multi-Status", 208: "Already Reported", 226: "IM Used",
        300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        305: "Use Proxy", 307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required",
        408: "Request Timeout", 409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed",
        413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
        417: "Expectation Failed", 421: "Misdirected Request", 422: "Unprocessable Content", 423: "Locked",
        424: "Failed Dependency", 425: "Too Early", 426: "Upgrade Required", 428: "Precondition Required",
        429: "Too Many Requests",
        431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported", 506: "Variant Also Negotiates",
        507: "Insufficient Storage", 508: "Loop Detected", 510: "Not Extended",
        511: "Network Authentication Required",
    ]
}
