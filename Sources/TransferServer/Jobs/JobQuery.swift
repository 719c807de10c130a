import Hummingbird
import TransferQueue

/// The page of jobs that a query requests.
enum JobQuery {
    static let mostJobs = 1000

    /// Parses the query.
    ///
    /// - Throws: A 400 for an invalid value.
    static func selection(_ request: Request) throws -> JobSelection {
        var selection = JobSelection()
        selection.batch = request.query("batch")
        selection.text = request.query("q")
        selection.code = request.query("code")
        selection.identity = request.query("id")
        selection.limit = try request.query("limit", in: 1...mostJobs) ?? 100
        for name in (request.query("state") ?? "").split(separator: ",") {
            guard let states = JobJSON.states(name) else {
                throw Problem.malformed("no state \(Wording.quoted(String(name)))")
            }
            selection.states.formUnion(states)
        }
        if let host = request.query("host") {
            guard let origin = Origin(anyURL: host) else {
                throw Problem.malformed("host is an origin, such as https://cdn.example")
            }
            selection.origin = origin.description
        }
        switch request.query("direction") {
        case nil: break
        case "download": selection.isUpload = false
        case "upload": selection.isUpload = true
        case .some: throw Problem.malformed("direction is download or upload")
        }
        selection.order = try order(request)
        return selection
    }

    private static func order(_ request: Request) throws -> JobSelection.Order {
        let cursor = request.query("cursor")
        switch request.query("sort") {
        case nil, "number":
            guard let cursor else { return .number(after: 0) }
            guard let number = JobNumberCode.job.number(cursor) else { throw Problem.malformed("no such cursor") }
            return .number(after: number)
        case "-ended":
            guard let cursor else { return .latestEnd(before: nil) }
            guard let end = Int64(cursor), end > 0 else { throw Problem.malformed("no such cursor") }
            return .latestEnd(before: end)
        case "turn":
            guard let cursor else { return .turn(skipping: 0) }
            guard let count = Int(cursor), (0...Int(Int32.max)).contains(count) else {
                throw Problem.malformed("no such cursor")
            }
            return .turn(skipping: count)
        case .some: throw Problem.malformed("sort is number, turn or -ended")
        }
    }

    /// Returns whether the list contains jobs that clients have cleared.
    ///
    /// - Throws: A 400 for an invalid value.
    static func hasCleared(_ request: Request) throws -> Bool { try request.query("cleared", in: 0...1) != 0 }

    /// Returns the cursor of the next page; `nil` after the last page.
    static func cursor(after page: [JobEntry], of selection: JobSelection) -> String? {
        guard page.count == selection.limit, let last = page.last else { return nil }
        return switch selection.order {
        case .number: JobNumberCode.job.name(last.number)
        case .latestEnd: last.cursor.map { String($0) }
        case .turn(let count), .ends(_, let count): String(count + page.count)
        }
    }

    /// Returns the same query with another cursor.
    static func path(_ request: Request, cursor: String) -> String {
        let others = (request.uri.query ?? "").split(separator: "&").filter { !$0.hasPrefix("cursor=") }
        return request.uri.path + "?" + (others.map(String.init) + ["cursor=\(cursor)"]).joined(separator: "&")
    }
}
