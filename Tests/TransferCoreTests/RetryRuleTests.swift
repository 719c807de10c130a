import Testing
import TransferCore

@Suite struct RetryRuleTests {
    let rule = RetryRule()

    private func failure(_ status: Int, retryAfter: Duration? = nil) -> TransferError {
        TransferError(.httpStatus, "\(status)", cause: .http(status: status), retryAfter: retryAfter)
    }

    @Test func hasTheDocumentedDefaults() {
        #expect(rule.limit == 10)
        #expect(rule.base == 2)
        #expect(rule.scale == 1)
        #expect(rule.maxDelay == 60)
        #expect(rule.jitter)
        #expect(rule.honoursRetryAfter)
        #expect(rule.maxWait == 86_400)
        #expect(rule.methods == ["DELETE", "GET", "HEAD", "OPTIONS", "PUT", "TRACE"])
        #expect(rule.statusCodes == nil, "by class")
        #expect(RetryRule(base: 1).base == 2, "below 2 the delay would not grow")
    }

    @Test(arguments: [(0, 1.0), (1, 2), (2, 4), (5, 32), (6, 60), (7, 60), (63, 60), (1000, 60)] as [(Int, Double)])
    func delaysGrowToTheCap(_ retries: Int, _ seconds: Double) {
        let plain = RetryRule(jitter: false)
        #expect(
            plain.delay(retriesSpent: retries, retryAfter: nil, random: 0.3) == .milliseconds(Int64(seconds * 1000)))
    }

    @Test func patienceIsTheDelaysThatAreLeft() {
        #expect(RetryRule().patience(retriesSpent: 0) == .seconds(63 + 4 * 60))
        #expect(RetryRule().patience(retriesSpent: 9) == .seconds(60))
        #expect(
            RetryRule().patience(retriesSpent: 10) == .zero && RetryRule(limit: 0).patience(retriesSpent: 0) == .zero)
        #expect(RetryRule(limit: .max, maxDelay: nil).patience(retriesSpent: 0) == .seconds(366 * 86_400))
    }

    @Test func theCurveFollowsBaseAndScale() {
        let rule = RetryRule(base: 3, scale: 0.5, maxDelay: nil, jitter: false)
        #expect(
            (0...4).map { rule.delay(retriesSpent: $0, retryAfter: nil, random: 0) }
                == [0.5, 1.5, 4.5, 13.5, 40.5].map { .milliseconds(Int64($0 * 1000)) })
        #expect(
            rule.delay(retriesSpent: .max, retryAfter: nil, random: 0) > .seconds(1_000_000),
            "without a cap it ends somewhere")
    }

    @Test(arguments: [(0.0, 4000), (0.5, 6000), (0.999, 7996)] as [(Double, Int64)])
    func jitterSpreadsOverTheUpperHalf(_ random: Double, _ milliseconds: Int64) {
        #expect(rule.delay(retriesSpent: 3, retryAfter: nil, random: random) == .milliseconds(milliseconds))
    }

    @Test func retryAfterLengthensAndNeverShortens() {
        let plain = RetryRule(jitter: false)
        #expect(plain.delay(retriesSpent: 0, retryAfter: .seconds(42), random: 0) == .seconds(42))
        #expect(plain.delay(retriesSpent: 5, retryAfter: .seconds(3), random: 0) == .seconds(32))
        #expect(
            plain.delay(retriesSpent: 0, retryAfter: .seconds(7200), random: 0) == .seconds(7200),
            "the cap is ours, not the server's")
        var deaf = plain
        deaf.honoursRetryAfter = false
        #expect(deaf.delay(retriesSpent: 0, retryAfter: .seconds(42), random: 0) == .seconds(1))
    }

    /// Rows: the requested wait, and the time that was waited before. No attempt is spent, however many waits there
    /// are.
    @Test(
        arguments: [
            (0, 0, 1), (0, 1, 2), (0, 7, 8), (0, 1000, 60), (30, 0, 30), (1, 7, 8), (3600, 100, 3600),
            (31_622_400, 0, 86_400), (7200, 86_000, 400), (0, 86_399, 1), (0, 86_400, nil), (60, 90_000, nil),
        ] as [(Int64, Int64, Int64?)])
    func aWaitThatAServerAsksForSpendsTime(_ asked: Int64, _ waited: Int64, _ seconds: Int64?) {
        for retries in [0, 9, 10, 1000] {
            let decision = RetryRule(jitter: false).decide(
                failure(429, retryAfter: .seconds(asked)), method: "GET", retriesSpent: retries, bodyLeft: false,
                waited: .seconds(waited), random: 0)
            #expect(decision == seconds.map { .wait(after: .seconds($0)) } ?? .giveUp(.waitLimitReached))
        }
    }

    @Test func noRetryMeansNoWait() {
        let decision = RetryRule(limit: 0).decide(
            failure(429, retryAfter: .seconds(1)), method: "GET", retriesSpent: 0, bodyLeft: false, random: 0)
        #expect(decision == .giveUp(.limitReached))
    }

    /// RFC 9110 §15.5.14
    @Test func aContentTooLargeForNowIsPassing() {
        let decision = RetryRule(jitter: false).decide(
            failure(413, retryAfter: .seconds(9)), method: "PUT", retriesSpent: 0, bodyLeft: true, random: 0)
        #expect(decision == .wait(after: .seconds(9)))
    }

    /// Dates of Retry-After, with a server clock that is a day behind, a day ahead, or unknown.
    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:30 GMT", 7),
            ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:00 GMT", 0),
            ("Sun, 06 Nov 1994 08:49:37 GMT", nil, 37), ("Sun, 06 Nov 1994 08:49:37 GMT", "nonsense", 37),
            ("120", "Sun, 06 Nov 1994 08:50:00 GMT", 120),
        ] as [(String, String?, Int64)])
    func aDateIsMeasuredByTheServersClock(_ retryAfter: String, _ date: String?, _ seconds: Int64) {
        let dates = date.map { [HeaderField("Date", $0)] } ?? []
        let head = ResponseHead(status: 503, fields: [HeaderField("Retry-After", retryAfter)] + dates)
        for offset: Int64 in date == nil || date == "nonsense" ? [0] : [0, -86_400, 86_400] {
            #expect(StatusRule.error(head, now: 784_111_740 + offset).retryAfter == .seconds(seconds))
        }
    }

    @Test(
        arguments: [
            ("0", 0), ("120", 120), ("1000000000000000000000000000000", 31_622_400), ("999999999999", 31_622_400),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 37),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 37), ("Sun Nov  6 08:49:37 1994", 37),
            ("Sat, 05 Nov 1994 08:49:37 GMT", 0),
            ("Sun, 06 Nov 2094 08:49:37 GMT", 31_622_400), ("-1", nil), ("soon", nil), ("", nil), ("1.5", nil),
        ] as [(String, Int64?)])
    func readsRetryAfter(_ text: String, _ seconds: Int64?) {
        #expect(RetryRule.retryAfter(text, now: 784_111_740) == seconds.map { .seconds($0) })
    }

    @Test(arguments: [408, 421, 423, 425, 429, 500, 502, 503, 504, 509, 511, 520, 530, 598, 599, 600, 999])
    func repeatsPassingStatuses(_ status: Int) {
        let decision = RetryRule(jitter: false).decide(
            failure(status), method: "GET", retriesSpent: 1, bodyLeft: false, random: 0)
        #expect(decision == .retry(after: .seconds(2)))
    }

    @Test(arguments: [
        204, 304, 400, 401, 403, 404, 409, 410, 413, 416, 417, 422, 424, 499, 501, 505, 506, 507, 508, 510,
    ])
    func givesOtherStatusesUp(_ status: Int) {
        var error = failure(status)
        error.isTransient = true
        #expect(rule.decide(error, method: "GET", retriesSpent: 0, bodyLeft: false, random: 0) == .giveUp(.permanent))
    }

    @Test func aListReplacesTheClasses() {
        let rule = RetryRule(jitter: false, statusCodes: [404])
        for (status, isRepeated) in [(404, true), (500, false), (520, false)] {
            let decision = rule.decide(failure(status), method: "GET", retriesSpent: 0, bodyLeft: false, random: 0)
            #expect((decision != .giveUp(.permanent)) == isRepeated)
        }
    }

    @Test(arguments: [(421, true), (425, false), (429, true), (511, true), (408, false), (423, false), (500, false)])
    func aPostIsRepeatedWhereTheAnswerSaysThatNothingWasDone(_ status: Int, _ isRepeated: Bool) {
        let decision = rule.decide(failure(status), method: "POST", retriesSpent: 0, bodyLeft: true, random: 0)
        #expect((decision != .giveUp(.methodNotRepeatable)) == isRepeated)
    }

    @Test func transientFailuresAreRepeatedAndOthersNot() {
        let lost = TransferError(.connectionLost, "lost", isTransient: true)
        let bad = TransferError(.badURL, "bad")
        for method in ["DELETE", "GET", "HEAD", "OPTIONS", "PUT", "TRACE"] {
            guard case .retry = rule.decide(lost, method: method, retriesSpent: 0, bodyLeft: true, random: 0) else {
                Issue.record("\(method) is not repeated")
                continue
            }
            #expect(
                rule.decide(bad, method: method, retriesSpent: 0, bodyLeft: false, random: 0) == .giveUp(.permanent))
        }
    }

    @Test func theLimitCountsRetries() {
        let lost = TransferError(.connectionLost, "lost", isTransient: true)
        for spent in 0..<10 {
            #expect(
                rule.decide(lost, method: "GET", retriesSpent: spent, bodyLeft: false, random: 0)
                    != .giveUp(.limitReached))
        }
        #expect(
            rule.decide(lost, method: "GET", retriesSpent: 10, bodyLeft: false, random: 0) == .giveUp(.limitReached))
        #expect(
            RetryRule(limit: 0).decide(lost, method: "GET", retriesSpent: 0, bodyLeft: false, random: 0)
                == .giveUp(.limitReached))
    }

    @Test(arguments: ["POST", "PATCH"])
    func aPostIsRepeatedOnlyWhenNothingOfItsBodyLeft(_ method: String) {
        let lost = TransferError(.connectionLost, "lost", isTransient: true)
        let plain = RetryRule(jitter: false)
        #expect(
            plain.decide(lost, method: method, retriesSpent: 0, bodyLeft: false, random: 0)
                == .retry(after: .seconds(1)))
        #expect(
            plain.decide(lost, method: method, retriesSpent: 0, bodyLeft: true, random: 0)
                == .giveUp(.methodNotRepeatable))
        #expect(
            plain.decide(failure(503), method: method, retriesSpent: 0, bodyLeft: false, random: 0)
                == .giveUp(.methodNotRepeatable), "it was answered")
        var allowed = plain
        allowed.methods.insert(method)
        #expect(
            allowed.decide(lost, method: method, retriesSpent: 0, bodyLeft: true, random: 0)
                == .retry(after: .seconds(1)))
    }
}
