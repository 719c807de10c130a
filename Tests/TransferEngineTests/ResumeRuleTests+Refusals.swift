import Testing
import TransferCore

@testable import TransferEngine

// Answers that refuse a request for a range.
extension ResumeRuleTests {
    /// A server, or a gateway in front of it, that refuses each request with a range.
    static let refusals: [Row] = [
        // The server may not understand the condition.
        Row(.tagged, 400, [:], .plain), Row(.tagged, 400, [:], .whole, plain: true), Row(.tagged, 412, [:], .plain),
        Row(.tagged, 403, [:], .whole), Row(.tagged, 405, [:], .whole), Row(.tagged, 406, [:], .whole),
        Row(.tagged, 501, [:], .whole), Row(.whole, 403, [:], .whole), Row(.digest, 403, [:], .whole),
        // A temporary refusal counts as a refusal of the range after several repetitions.
        Row(.tagged, 503, [:], .refused), Row(.tagged, 500, [:], .refused), Row(.tagged, 502, [:], .refused),
        Row(.tagged, 503, [:], .refused, doubt: ResumeDoubt(claim: "refused:503", count: 1)),
        Row(.tagged, 503, [:], .whole, doubt: ResumeDoubt(claim: "refused:503", count: 2)),
        Row(.tagged, 503, ["Retry-After": "9"], .none, doubt: ResumeDoubt(claim: "refused:503", count: 2)),
        // The following statuses say nothing about the range.
        Row(.tagged, 401, [:], .none), Row(.tagged, 404, [:], .none), Row(.tagged, 410, [:], .none),
        Row(.tagged, 408, [:], .none), Row(.tagged, 429, [:], .none), Row(.tagged, 504, [:], .none),
        Row(.tagged, 507, [:], .none),
        // The request asked for the whole file only.
        Row(.weak, 403, [:], .none), Row(.weak, 503, [:], .none),
    ]

    /// A part belongs to a set of parts, and the caller that requested it decides.
    @Test(arguments: refusals) func aRefusedPartIsNoReasonToAskForTheWhole(_ row: Row) {
        var point = row.held.point
        (point.isPart, point.end, point.doubt) = (true, 900, row.doubt)
        #expect(ResumeRule(point: point).judge(row.head, to: .rest(isConditional: true)) == nil)
    }
}
