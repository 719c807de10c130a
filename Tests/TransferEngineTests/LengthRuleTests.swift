import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine

/// The decision whether a file is complete, judged by lengths.
@Suite struct LengthRuleTests {
    private static func head(_ status: Int = 200, _ fields: [String: String] = [:]) -> ResponseHead {
        ResponseHead(status: status, fields: fields.sorted { $0.key < $1.key }.map { HeaderField($0.key, $0.value) })
    }

    @Test(
        arguments: [
            // Columns: status, fields, total length, whether the protocol frames the body; whether completeness is
            // proven.
            (200, [:], 5, false, true), (200, [:], nil, false, false), (200, [:], nil, true, true),
            (200, ["Transfer-Encoding": "chunked"], nil, false, true),
            (200, ["Transfer-Encoding": "gzip, Chunked"], nil, false, true),
            (200, ["Transfer-Encoding": "chunked, gzip"], nil, false, false),
            (200, ["Transfer-Encoding": "gzip"], nil, false, false),
            // The part is complete, but the file may be longer.
            (206, ["Content-Length": "5"], nil, false, false),
            (206, ["Transfer-Encoding": "chunked"], nil, true, false),
            (206, [:], 9, false, true), (203, [:], nil, false, false),
        ] as [(Int, [String: String], Int64?, Bool, Bool)])
    func theFramingProvesTheLengthOrDoesNot(
        _ status: Int, _ fields: [String: String], _ total: Int64?, _ isFramed: Bool, _ isProven: Bool
    ) {
        #expect(LengthRule.isProven(Self.head(status, fields), total: total, isFramed: isFramed) == isProven)
    }

    @Test(
        arguments: [
            // Columns: the fields of the body's answer, then the answer to HEAD. 1000 bytes came.
            ([:], 200, ["Content-Length": "1000"], .same), ([:], 200, ["Content-Length": "1001"], .cut(length: 1001)),
            ([:], 200, ["Content-Length": "999"], .unknown), ([:], 200, ["Content-Length": "0"], .unknown),
            ([:], 200, [:], .unknown), ([:], 200, ["Content-Length": "x"], .unknown),
            ([:], 204, ["Content-Length": "1000"], .unknown), ([:], 404, ["Content-Length": "1001"], .unknown),
            ([:], 302, ["Content-Length": "1001"], .unknown), ([:], 405, [:], .unknown),
            ([:], 200, ["Content-Length": "1001", "Transfer-Encoding": "chunked"], .unknown),
            (["ETag": "\"a\""], 200, ["Content-Length": "1001", "ETag": "\"a\""], .cut(length: 1001)),
            (["ETag": "\"a\""], 200, ["Content-Length": "1001"], .cut(length: 1001)),
            (["ETag": "\"a\""], 200, ["Content-Length": "1001", "ETag": "\"b\""], .unknown),
            (["ETag": "\"a\""], 200, ["Content-Length": "1000", "ETag": "\"b\""], .unknown),
            (["Content-Encoding": "gzip"], 200, ["Content-Length": "1001"], .unknown),
            (["Content-Encoding": "gzip"], 200, ["Content-Length": "1000", "Content-Encoding": "GZIP"], .same),
        ] as [([String: String], Int, [String: String], LengthRule.Answer)])
    func anAnswerToHeadProvesRefutesOrSaysNothing(
        _ before: [String: String], _ status: Int, _ fields: [String: String], _ expected: LengthRule.Answer
    ) {
        #expect(
            LengthRule.judge(Self.head(status, fields), of: Self.head(200, before), position: 1000) == expected)
    }

    // MARK: The machine

    private static func machine(_ openEnd: OpenEnd, method: String = "GET") -> ExchangeMachine {
        var request = ExchangeRequest(url: "http://a.example/f", method: method, intent: .representation(nil))
        request.settings.openEnd = openEnd
        return ExchangeMachine(request)
    }

    /// Returns how an exchange ends whose body came without a length. `HEAD` stands for a request for the length before
    /// that.
    private static func story(
        _ openEnd: OpenEnd, method: String = "GET", isFramed: Bool = false, answer: ResponseHead? = nil,
        closure: ConnectionClosure = .unknown
    ) -> String {
        var machine = machine(openEnd, method: method)
        _ = machine.start()
        _ = machine.received(head(), redirectTarget: nil, now: 0)
        var reported = ""
        var action = machine.hopEnded(nil, position: 1000, isFramed: isFramed, closure: closure)
        if case .perform(let hop) = action {
            reported = hop.method + " "
            if let answer { _ = machine.received(answer, redirectTarget: nil, now: 0) }
            let lost = TransferError(.connectionLost, "lost", isTransient: true)
            action = machine.hopEnded(answer == nil ? lost : nil, position: 1000)
        }
        switch action {
        case .perform: return reported + "again"
        case .succeed(let head):
            return reported + "\(head.status)" + (machine.isLengthUnproven ? " unproven" : "")
                + (machine.hasClosureAlert ? " closed" : "")
        case .fail(let error): return reported + error.code.rawValue
        }
    }

    @Test func theServerIsAskedOnceAndOnlyWhereThatHelps() {
        let (same, longer) = (Self.head(200, ["Content-Length": "1000"]), Self.head(200, ["Content-Length": "1001"]))
        let silent = Self.head(200, [:])
        #expect(Self.story(.taken) == "200")
        #expect(Self.story(.asked, isFramed: true) == "200" && Self.story(.refused, isFramed: true) == "200")
        #expect(Self.story(.asked, answer: same) == "HEAD 200" && Self.story(.refused, answer: same) == "HEAD 200")
        #expect(Self.story(.asked, answer: longer) == "HEAD connectionLost")
        #expect(Self.story(.refused, answer: longer) == "HEAD connectionLost")
        #expect(Self.story(.asked, answer: silent) == "HEAD 200 unproven")
        #expect(Self.story(.refused, answer: silent) == "HEAD unproven")
        // A refused HEAD is no evidence against the body.
        #expect(Self.story(.asked) == "HEAD 200 unproven" && Self.story(.refused) == "HEAD unproven")
        // A HEAD asks for the result of a GET, and of no other method.
        #expect(Self.story(.asked, method: "POST") == "200 unproven")
        #expect(Self.story(.refused, method: "POST") == "unproven")
    }

    /// RFC 9112 §9.8: without the closing alert such an answer is incomplete unless another proof exists.
    @Test func aConnectionThatWasCutNeedsAnotherProof() {
        let (same, silent) = (Self.head(200, ["Content-Length": "1000"]), Self.head(200, [:]))
        #expect(Self.story(.asked, answer: silent, closure: .cut) == "HEAD connectionLost")
        #expect(Self.story(.asked, closure: .cut) == "HEAD connectionLost")
        #expect(Self.story(.asked, method: "POST", closure: .cut) == "connectionLost")
        #expect(Self.story(.asked, answer: same, closure: .cut) == "HEAD 200")
        #expect(Self.story(.asked, isFramed: true, closure: .cut) == "200")
        // A digest decides instead.
        #expect(Self.story(.taken, closure: .cut) == "200")
        #expect(Self.story(.asked, answer: silent, closure: .alerted) == "HEAD 200 unproven closed")
        #expect(Self.story(.refused, answer: silent, closure: .alerted) == "HEAD unproven")
    }

    /// A program's request has no file whose length a further request could prove. The alert alone decides.
    @Test(arguments: [true, false]) func anAnswerOfAProgramsRequestNeedsTheAlert(_ isFile: Bool) {
        func story(
            _ method: String, _ head: ResponseHead, isFramed: Bool = false, _ closure: ConnectionClosure
        ) -> String {
            var request = ExchangeRequest(
                url: "https://a.example/f", method: method, intent: isFile ? .representation(nil) : .message)
            request.settings.openEnd = .takenIfAlerted
            var machine = ExchangeMachine(request)
            _ = machine.start()
            _ = machine.received(head, redirectTarget: nil, now: 0)
            switch machine.hopEnded(nil, position: 1000, isFramed: isFramed, closure: closure) {
            case .perform(let hop): return hop.method
            case .succeed(let head): return "\(head.status)"
            case .fail(let error): return "\(error.code.rawValue) \(error.isTransient)"
            }
        }
        #expect(story("GET", Self.head(), .cut) == "connectionLost true")
        #expect(story("POST", Self.head(), .cut) == "connectionLost true")
        #expect(story("GET", Self.head(404), .cut) == (isFile ? "httpStatus false" : "connectionLost true"))
        for closure in [ConnectionClosure.alerted, .unknown] { #expect(story("GET", Self.head(), closure) == "200") }
        #expect(story("GET", Self.head(), isFramed: true, .cut) == "200")
        #expect(story("GET", Self.head(200, ["Transfer-Encoding": "chunked"]), .cut) == "200")
        #expect(story("HEAD", Self.head(), .cut) == "200")
    }
}
