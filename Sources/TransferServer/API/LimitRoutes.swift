import HTTPTypes
import Hummingbird
import TransferQueue

/// The routes for the limits on simultaneous work, which clients can change while the queue runs.
struct LimitRoutes: Sendable {
    let limits: RunningLimits

    func add(to routes: RouterGroup<ServerContext>) {
        routes.get("limits") { _, _ in answer() }
        routes.patch("limits") { request, _ in
            let body = try await JSONBody.object(request)
            try change(body.members ?? [:])
            return answer()
        }
    }

    private func answer() -> Response {
        let current = limits.current
        return .json { writer in
            writer.member("concurrency", current.concurrency ?? BatchLimits.concurrency)
            switch current.perHost {
            case nil, .automatic: writer.member("perHost", "auto")
            case .exactly(let count): writer.member("perHost", count)
            }
            writer.member("limitRate", current.limitRate ?? 0)
        }
    }

    /// Applies a merge patch (RFC 7396), in which `null` removes a limit.
    private func change(_ members: [String: JSONValue]) throws {
        func number(_ key: String, _ value: JSONValue, _ range: ClosedRange<Int>) throws -> Int? {
            if value == .null { return nil }
            guard let number = value.integer, range.contains(number) else {
                throw Self.refusal("\"\(key)\" is a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
        try limits.change { limits in
            var changed = limits
            for (key, value) in members {
                switch key {
                case "concurrency": changed.concurrency = try number(key, value, FieldRanges.concurrencies)
                case "perHost":
                    changed.perHost =
                        value.text == "auto"
                        ? .automatic : try number(key, value, FieldRanges.concurrencies).map { .exactly($0) }
                case "limitRate":
                    let rate = try number(key, value, 0...Int.max)
                    changed.limitRate = rate.flatMap { $0 == 0 ? nil : Int64($0) }
                default: throw Self.refusal("there is no limit \(Wording.quoted(key))")
                }
            }
            limits = changed
        }
    }

    private static func refusal(_ detail: String) -> Problem {
        Problem(.unprocessableContent, "badLimit", detail)
    }
}
