import TransferNetworking
import TransferTestServer

/// A rule of RFC 9111 as two requests to one URL: the first answer, the delay, the second request, and the expected
/// outcome.
struct CacheCase: Sendable, CustomStringConvertible {
    enum Outcome: Sendable {
        /// The stored answer, without a request to the server.
        case reused
        /// The stored answer, after the server had confirmed it.
        case confirmed
        /// A new answer, to a request without a validator.
        case fetched
        /// A 504, without a request to the server.
        case timedOut
    }

    let section: String
    let rule: String
    var status = 200
    var answer: HeaderFields
    var request: HTTPHeaders = [:]
    /// The delay before the second request, in seconds.
    var wait = 0.0
    /// Header fields of the second request.
    var second: HTTPHeaders = [:]
    let outcome: Outcome

    init(
        _ section: String, _ rule: String, _ answer: HeaderFields, status: Int = 200, request: HTTPHeaders = [:],
        after wait: Double = 0, second: HTTPHeaders? = nil, _ outcome: Outcome
    ) {
        self.section = section
        self.rule = rule
        self.status = status
        self.answer = answer
        self.request = request
        self.wait = wait
        self.second = second ?? request
        self.outcome = outcome
    }

    var description: String { "§\(section): \(rule)" }

    static let all = storing + lifetimes + heuristics + ages + requestDirectives + responseDirectives + selecting
    private static let tag: HeaderFields = ["ETag": "\"1\""]
    private static func minute(_ others: HeaderFields = [:]) -> HeaderFields {
        others.overridden(by: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
    }
    private static func control(_ value: String) -> HeaderFields { ["Cache-Control": value, "ETag": "\"1\""] }

    static let storing: [CacheCase] = [
        CacheCase("3", "an answer with max-age is stored", minute(), .reused),
        CacheCase("3", "an answer with Expires is stored", ["Expires": "@60"], .reused),
        CacheCase(
            "3", "an answer that is final and says how long it is fresh is stored, whatever its status",
            ["Cache-Control": "max-age=60"], status: 299, .reused),
        CacheCase(
            "3", "an error that says how long it is fresh is stored", control("max-age=60"), status: 500, .reused),
        CacheCase(
            "3", "an error that does not say so is not stored", ["Last-Modified": "@-1000000"], status: 500, .fetched),
        CacheCase("3", "what says nothing and cannot be confirmed is asked for again", [:], .fetched),
        CacheCase(
            "3.3", "a part is never stored",
            ["Cache-Control": "max-age=60", "Content-Range": "bytes 0-0/9"], status: 206,
            request: ["Range": "bytes=0-0"], second: [:], .fetched),
        CacheCase("3.4", "a request for a part goes to the server", minute(), second: ["Range": "bytes=0-0"], .fetched),
        CacheCase(
            "3", "a redirect that leads nowhere is an answer like others",
            ["Cache-Control": "max-age=60"], status: 302, .reused),
        CacheCase("3", "401 is no answer for later", control("max-age=60"), status: 401, .fetched),
        CacheCase("3", "412 belongs to its request's conditions", control("max-age=60"), status: 412, .fetched),
        CacheCase(
            "3.5", "an answer to a request with Authorization is stored for the one who asked",
            minute(), request: ["Authorization": "Bearer a"], .reused),
        CacheCase(
            "3.5", "what was given for other credentials is not used",
            minute(), request: ["Authorization": "Bearer a"], second: ["Authorization": "Bearer b"], .fetched),
        CacheCase(
            "3.5", "what was given for credentials is not used without",
            minute(), request: ["Authorization": "Bearer a"], second: [:], .fetched),
        CacheCase(
            "5.2.2.9", "a public answer is everybody's", control("public, max-age=60"),
            request: ["Authorization": "Bearer a"], second: ["Authorization": "Bearer b"], .reused),
        CacheCase("7.3", "an answer that sets a cookie is stored", minute(["Set-Cookie": "a=b"]), .reused),
        CacheCase("5.2.2.5", "no-store of the answer", control("no-store, max-age=60"), .fetched),
        CacheCase(
            "5.2.1.5", "no-store of the request", minute(), request: ["Cache-Control": "no-store"], second: [:],
            .fetched),
        CacheCase("5.2.2.7", "private is stored by a private cache", control("private, max-age=60"), .reused),
        CacheCase("5.2.2.7", "private with field names too", control("private=\"set-cookie\", max-age=60"), .reused),
        CacheCase(
            "5.2.2.3", "must-understand with a status that is understood makes no-store void",
            control("must-understand, no-store, max-age=60"), .reused),
        CacheCase(
            "5.2.2.3", "must-understand with a status that is not understood", control("must-understand, max-age=60"),
            status: 299, .fetched),
    ]

    static let lifetimes: [CacheCase] = [
        CacheCase("4.2.1", "fresh until max-age", minute(), after: 59, .reused),
        CacheCase("4.2", "at max-age it is stale", minute(), after: 60, .confirmed),
        CacheCase("5.3", "max-age wins over an Expires of the past", minute(["Expires": "@-60"]), .reused),
        CacheCase(
            "5.3", "max-age wins over an Expires of the future",
            ["Cache-Control": "max-age=0", "Expires": "@60", "ETag": "\"1\""], .confirmed),
        CacheCase("5.2.2.10", "s-maxage is for shared caches", control("s-maxage=0, max-age=60"), .reused),
        CacheCase("5.2.2.10", "s-maxage alone says nothing here", control("s-maxage=60"), .confirmed),
        CacheCase(
            "4.2.1", "Expires counts from Date", ["Date": "@-100", "Expires": "@50", "ETag": "\"1\""], after: 49,
            .reused),
        CacheCase(
            "4.2.1", "and not longer", ["Date": "@-100", "Expires": "@50", "ETag": "\"1\""], after: 51, .confirmed),
        CacheCase("5.3", "Expires: 0 is the past", ["Expires": "0", "ETag": "\"1\""], .confirmed),
        CacheCase(
            "5.3", "an Expires that is no date is the past",
            ["Expires": "tomorrow", "ETag": "\"1\"", "Last-Modified": "@-1000000"], .confirmed),
        CacheCase(
            "5.3", "an Expires in the form of RFC 850 is read",
            ["Expires": "Saturday, 01-Jan-50 00:00:00 GMT", "ETag": "\"1\""], .reused),
        CacheCase(
            "5.3", "an Expires in the form of asctime is read",
            ["Expires": "Sat Jan  1 00:00:00 2050", "ETag": "\"1\""], .reused),
        CacheCase("4.2.1", "two numbers that differ are no promise", control("max-age=60, max-age=600"), .confirmed),
        CacheCase("4.2.1", "the same number twice is one", control("max-age=60, max-age=60"), .reused),
        CacheCase("4.2.1", "a max-age that is no number is no promise", control("max-age=soon"), .confirmed),
        CacheCase("1.2.2", "a fraction is no number of seconds", control("max-age=60.5"), .confirmed),
        CacheCase("1.2.2", "a negative number neither", control("max-age=-60"), .confirmed),
        CacheCase(
            "1.2.2", "a number too large to count is the largest", control("max-age=99999999999999999999"),
            after: 3e8, .reused),
        CacheCase("5.2", "an argument may be quoted", control("max-age=\"60\""), .reused),
        CacheCase("5.2", "directives compare without regard to case", control("Max-AGE=60"), .reused),
        CacheCase("5.2", "unknown directives are passed over", control("x-priority=1, max-age=60, later"), .reused),
        CacheCase(
            "5.2", "what is quoted is no directive", control("x=\"a, max-age=0, no-store\", max-age=60"), .reused),
        CacheCase("5.2", "empty members are passed over", control(",, max-age=60 ,"), .reused),
        CacheCase(
            "5.2", "several lines are one list",
            HeaderFields(lines: [("Cache-Control", "max-age=60"), ("Cache-Control", "no-cache"), ("ETag", "\"1\"")]),
            .confirmed),
    ]

    static let heuristics: [CacheCase] =
        [200, 203, 300, 301, 308, 404, 405, 410, 414, 501].map { status in
            CacheCase(
                "4.2.2", "\(status) is fresh for a tenth of its age", ["Last-Modified": "@-1000"], status: status,
                after: 99, .reused)
        } + [
            CacheCase("4.2.2", "and not longer", ["Last-Modified": "@-1000"], after: 101, .confirmed),
            CacheCase(
                "4.2.2", "a guess is not longer than a day", ["Last-Modified": "@-100000000"], after: 86_399, .reused),
            CacheCase("4.2.2", "a day later it is over", ["Last-Modified": "@-100000000"], after: 86_401, .confirmed),
            CacheCase(
                "4.2.2", "what will be changed in the future allows no guess", ["Last-Modified": "@1000"], .confirmed),
            CacheCase(
                "4.2.2", "public allows a guess with any status",
                ["Cache-Control": "public", "Last-Modified": "@-1000"], status: 299, after: 99, .reused),
            CacheCase("4.2.2", "other statuses do not", ["Last-Modified": "@-1000"], status: 299, .fetched),
            CacheCase(
                "4.2.2", "no guess where the server says how long",
                ["Cache-Control": "max-age=10", "Last-Modified": "@-100000"], after: 11, .confirmed),
        ]

    static let ages: [CacheCase] = [
        CacheCase("4.2.3", "Age counts", minute(["Age": "50"]), after: 9, .reused),
        CacheCase("4.2.3", "Age counts against it", minute(["Age": "50"]), after: 11, .confirmed),
        CacheCase("4.2.3", "the time since Date counts", minute(["Date": "@-50"]), after: 9, .reused),
        CacheCase("4.2.3", "the time since Date counts against it", minute(["Date": "@-50"]), after: 11, .confirmed),
        CacheCase("4.2.3", "of both the greater", minute(["Date": "@-50", "Age": "10"]), after: 11, .confirmed),
        CacheCase(
            "4.2.3", "a Date in the future makes nothing younger", minute(["Date": "@100"]), after: 61, .confirmed),
        CacheCase("5.1", "an Age that is no number is passed over", minute(["Age": "old"]), after: 59, .reused),
        CacheCase("5.1", "of several Ages the first", minute(["Age": "50, 0"]), after: 11, .confirmed),
    ]

    static let requestDirectives: [CacheCase] = [
        CacheCase(
            "5.2.1.1", "max-age of the request, kept to", minute(), after: 29,
            second: ["Cache-Control": "max-age=30"], .reused),
        CacheCase(
            "5.2.1.1", "max-age of the request", minute(), after: 31,
            second: ["Cache-Control": "max-age=30"], .confirmed),
        CacheCase(
            "5.2.1.2", "max-stale takes what is that stale", minute(), after: 80,
            second: ["Cache-Control": "max-stale=20"], .reused),
        CacheCase(
            "5.2.1.2", "and nothing staler", minute(), after: 81, second: ["Cache-Control": "max-stale=20"], .confirmed),
        CacheCase(
            "5.2.1.2", "max-stale without a number takes anything", minute(), after: 1e6,
            second: ["Cache-Control": "max-stale"], .reused),
        CacheCase(
            "5.2.1.3", "min-fresh, kept to", minute(), after: 40, second: ["Cache-Control": "min-fresh=20"], .reused),
        CacheCase("5.2.1.3", "min-fresh", minute(), after: 41, second: ["Cache-Control": "min-fresh=20"], .confirmed),
        CacheCase("5.2.1.4", "no-cache of the request", minute(), second: ["Cache-Control": "no-cache"], .confirmed),
        CacheCase("5.4", "Pragma: no-cache", minute(), second: ["Pragma": "no-cache"], .confirmed),
        CacheCase(
            "5.4", "Pragma beside Cache-Control means nothing", minute(),
            second: ["Pragma": "no-cache", "Cache-Control": "max-age=60"], .reused),
        CacheCase(
            "5.2.1.7", "only-if-cached with something fresh", minute(),
            second: ["Cache-Control": "only-if-cached"], .reused),
        CacheCase(
            "5.2.1.7", "only-if-cached with something stale", minute(), after: 61,
            second: ["Cache-Control": "only-if-cached"], .timedOut),
        CacheCase(
            "5.2.1.7", "only-if-cached with max-stale", minute(), after: 61,
            second: ["Cache-Control": "only-if-cached, max-stale=5"], .reused),
        CacheCase(
            "4.3.1", "conditions of the program are the server's affair", minute(),
            second: ["If-Match": "\"9\""], .fetched),
    ]

    static let responseDirectives: [CacheCase] = [
        CacheCase("5.2.2.4", "no-cache is confirmed each time", control("no-cache, max-age=60"), .confirmed),
        CacheCase(
            "5.2.2.4", "no-cache with field names counts for all", control("no-cache=\"set-cookie\", max-age=60"),
            .confirmed),
        CacheCase("5.2.2.2", "must-revalidate while fresh", control("must-revalidate, max-age=60"), after: 59, .reused),
        CacheCase(
            "5.2.2.2", "must-revalidate forbids what max-stale would take", control("must-revalidate, max-age=60"),
            after: 61, second: ["Cache-Control": "max-stale"], .confirmed),
        CacheCase(
            "5.2.2.8", "proxy-revalidate is for shared caches", control("proxy-revalidate, max-age=60"), after: 61,
            second: ["Cache-Control": "max-stale"], .reused),
        CacheCase(
            "4.3.1", "Last-Modified confirms too", ["Cache-Control": "max-age=0", "Last-Modified": "@-9"], .confirmed),
        CacheCase(
            "4.3", "without a validator it is fetched anew", ["Cache-Control": "max-age=60"], after: 61, .fetched),
        CacheCase(
            "5861 §3", "stale-while-revalidate is confirmed first", control("max-age=60, stale-while-revalidate=99"),
            after: 61, .confirmed),
    ]

    static let selecting: [CacheCase] = [
        CacheCase(
            "4.1", "what varies is used for the same request", minute(["Vary": "X-A"]), request: ["X-A": "1"], .reused),
        CacheCase(
            "4.1", "and for no other", minute(["Vary": "X-A"]), request: ["X-A": "1"], second: ["X-A": "2"], .fetched),
        CacheCase(
            "4.1", "a field that is missing is another request", minute(["Vary": "X-A"]), request: ["X-A": "1"],
            second: [:], .fetched),
        CacheCase("4.1", "a field that was missing and still is", minute(["Vary": "X-A"]), .reused),
        CacheCase(
            "4.1", "white space around commas does not count", minute(["Vary": "X-A"]), request: ["X-A": "a, b"],
            second: ["X-A": "a ,b"], .reused),
        CacheCase(
            "4.1", "names compare without regard to case", minute(["Vary": "x-a"]), request: ["X-A": "1"],
            second: ["X-a": "2"], .fetched),
        CacheCase(
            "4.1", "every named field counts", minute(["Vary": "X-A, X-B"]), request: ["X-A": "1", "X-B": "1"],
            second: ["X-A": "1", "X-B": "2"], .fetched),
        CacheCase(
            "4.1", "fields that are not named do not", minute(["Vary": "X-A"]), request: ["X-C": "1"],
            second: ["X-C": "2"], .reused),
        CacheCase(
            "4.1", "what varies by a cookie that the program set is used for the same one", minute(["Vary": "Cookie"]),
            request: ["Cookie": "a=1"], .reused),
        CacheCase(
            "4.1", "what varies by cookies that are put in on the way is not kept", minute(["Vary": "Cookie"]), .fetched
        ),
        CacheCase("4.1", "Vary: * fits nothing", minute(["Vary": "*"]), .fetched),
        CacheCase("4.1", "Vary: * among others too", minute(["Vary": "X-A, *"]), .fetched),
    ]
}

extension HeaderFields {
    /// Takes fields whose names may repeat.
    init(lines: [(String, String)]) {
        self.init()
        for (name, value) in lines { add(name, value) }
    }
}
