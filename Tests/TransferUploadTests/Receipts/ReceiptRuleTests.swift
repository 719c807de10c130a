import Testing
import TransferCore

@testable import TransferUpload

/// The answers to a whole upload that are receipts.
@Suite struct ReceiptRuleTests {
    private static let url = "http://h/in/f"

    private static func answer(
        _ status: Int, to location: String? = nil, at url: String = url, type: String? = nil, body: String = ""
    ) -> UploadAnswer {
        var fields: [HeaderField] = []
        if let location { fields.append(HeaderField("Location", location)) }
        if let type { fields.append(HeaderField("Content-Type", type)) }
        return UploadAnswer(
            request: 1, head: ResponseHead(status: status, fields: fields), body: Array(body.utf8), url: url)
    }

    private func word(_ verdict: ReceiptRule.Verdict) -> String {
        switch verdict {
        case .stored: "stored"
        case .accepted: "accepted"
        case .doubtful: "doubtful"
        case .redirected(let target): "looks at \(target)"
        case .refused(let error): error.code == .mayHaveBeenSent ? "perhaps" : error.isTransient ? "later" : "no"
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let method: String
        var success: Set<Int>?
        let answer: UploadAnswer
        let verdict: String

        var testDescription: String {
            "\(method) \(success?.sorted() ?? []) \(answer.head.status) \(answer.head.value("Location") ?? "") "
                + String(decoding: answer.body, as: UTF8.self)
        }
    }

    private static func rows(_ method: String, success: Set<Int>? = nil, _ rows: [(UploadAnswer, String)]) -> [Row] {
        rows.map { Row(method: method, success: success, answer: $0.0, verdict: $0.1) }
    }

    private static let put: [(UploadAnswer, String)] = [
        (answer(200), "stored"), (answer(201, to: "/other"), "stored"), (answer(204), "stored"),
        (answer(202), "accepted"), (answer(205), "stored"), (answer(299), "stored"), (answer(203), "doubtful"),
        (answer(206), "doubtful"), (answer(207), "doubtful"), (answer(208), "doubtful"), (answer(226), "doubtful"),
        (answer(300, to: "/a"), "no"),
        (answer(301, to: "/a"), "no"), (answer(302, to: "/a"), "no"), (answer(303, to: "/a"), "no"),
        (answer(303), "no"), (answer(303, to: ""), "no"), (answer(304), "no"), (answer(305, to: "/a"), "no"),
        (answer(303, to: "/login"), "no"), (answer(303, to: "http://other/a"), "no"), (answer(403), "no"),
        (answer(503), "later"), (answer(200, at: "http://h/login/", type: "text/html"), "no"),
        (answer(200, at: "http://h/stored", type: "text/html"), "stored"),
        (answer(200, type: "text/html; charset=utf-8", body: "ok\n"), "stored"),
        (answer(200, type: "text/html", body: page), "doubtful"),
        (answer(200, at: "http://h/hotspot", type: "TEXT/HTML", body: "<!DOCTYPE HTML>"), "doubtful"),
        (answer(200, type: "application/json", body: page), "stored"),
        (answer(201, type: "text/html", body: page), "stored"),
        (answer(201, type: "text/html", body: signIn), "doubtful"),
    ]
    private static let page = "<html><title>Welcome</title>"
    private static let signIn = "<html><form><input type=\"password\"></form>"
    private static let namedPut: [(UploadAnswer, String)] = [
        (answer(200, type: "text/html", body: page), "stored"),
        (answer(200, type: "text/html", body: signIn), "doubtful"),
        (answer(200), "stored"), (answer(201), "no"), (answer(202), "no"), (answer(303, to: "/a"), "no"),
    ]
    private static let post: [(UploadAnswer, String)] = [
        (answer(200), "stored"), (answer(202), "accepted"), (answer(303, to: "/a"), "perhaps"),
        (answer(203), "stored"), (answer(207), "stored"), (answer(206), "doubtful"),
        (answer(200, type: "text/html", body: signIn), "stored"),
        (answer(302, to: "/a"), "perhaps"), (answer(301, to: "/a"), "no"), (answer(303), "no"),
        (answer(303, to: "/login?next=/in"), "no"), (answer(303, to: "//other/a"), "no"),
    ]
    private static let namedPost: [(UploadAnswer, String)] = [
        (answer(201), "stored"), (answer(200), "no"), (answer(202), "no"),
        (answer(303, to: "/a"), "looks at http://h/a"), (answer(302, to: "/a"), "perhaps"),
        (answer(303), "no"), (answer(303, to: "/users/sign_in"), "no"), (answer(303, to: "/Login.php?x"), "no"),
        (answer(303, to: "/auth/?rd=x"), "no"), (answer(303, to: "http://other/a"), "no"),
        (answer(303, to: "https://h/a"), "no"), (answer(303, to: "http://h:81/a"), "no"),
        (answer(303, to: "/authors/1"), "looks at http://h/authors/1"), (answer(503), "later"),
    ]
    private static let table: [Row] = [
        rows("PUT", put), rows("PUT", success: [200, 303], namedPut),
        rows("PUT", success: [201, 202], [(answer(202), "stored")]),
        rows("PUT", success: [207], [(answer(207), "stored"), (answer(203), "no")]),
        rows("POST", post), rows("POST", success: [201, 303], namedPost),
    ].flatMap { $0 }

    @Test(arguments: table) func onlyTheAnswerToTheUploadItselfIsAReceipt(_ row: Row) {
        let rule = ReceiptRule(method: row.method, success: row.success)
        #expect(word(rule.judge(row.answer, to: Self.url, now: 0)) == row.verdict)
    }

    private static let pages: [(UploadAnswer, String)] = [
        (answer(200, type: "text/html", body: "<p>thank you"), "stored"), (answer(404), "stored"),
        (answer(500), "stored"), (answer(401), "no"), (answer(403), "no"), (answer(302, to: "/login"), "no"),
        (answer(302, to: "/b"), "looks at http://h/b"), (answer(302, to: "http://other/"), "no"),
        (answer(200, type: "text/html", body: "<input name=x  TYPE = 'password'>"), "no"),
        (answer(200, type: "text/plain", body: "type=password"), "stored"),
    ]

    @Test(arguments: pages) func aLoginPageRevokesTheReceipt(_ page: UploadAnswer, _ verdict: String) {
        #expect(word(ReceiptRule(method: "POST", success: [303]).judgePage(page, after: 303)) == verdict)
    }

    @Test func onlySuccessesAndRedirectsOfFormsCanBeAccepted() {
        #expect((0..<1000).filter(ReceiptRule.isNameable) == Array(200..<300) + [302, 303])
    }
}
