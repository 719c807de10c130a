import Testing
import TransferTestSupport

/// Transfers that are bound to one link, on the real kernel, which counts the packets on each link.
@Suite("A required link", .enabled(if: TwoLinks.isAllowed), .timeLimit(.minutes(1)))
struct LinkTests {
    private static let records = [
        "web.example=\(TwoLinks.web)", "big.example=\(TwoLinks.web)", "other.example=\(TwoLinks.web)",
        "proxy.example=\(TwoLinks.web)", "dead.example=\(TwoLinks.web)",
    ]

    /// Without this test the other tests would prove nothing.
    @Test func withoutOneTheKernelsChoiceIsSeenByTheCounters() async throws {
        let links = try await TwoLinks(records: Self.records)
        let lines = try await links.probe("fetch", "-", "http://web.example/")
        #expect(lines == ["body \(TwoLinks.addresses.a) on 80"])
        let (a, b) = (try await links.sent(over: "a"), try await links.sent(over: "b"))
        #expect(a >= 6 && b == 0)
        let questions = try await links.questions()
        #expect(questions.contains("udp A web.example \(TwoLinks.addresses.a)"))
    }

    @Test func carriesTheNameLookUpsAndTheTransferAndNoPacketTakesAnother() async throws {
        let links = try await TwoLinks(records: Self.records)
        let lines = try await links.probe("fetch", "b", "http://web.example/", "b", "http://web.example/away")
        #expect(lines == Array(repeating: "body \(TwoLinks.addresses.b) on 80", count: 2))
        let (a, b) = (try await links.sent(over: "a"), try await links.sent(over: "b"))
        #expect(a == 0 && b >= 6)
        let questions = try await links.questions()
        #expect(
            questions
                == ["A", "AAAA"].flatMap { type in
                    ["other", "web"].map { "udp \(type) \($0).example \(TwoLinks.addresses.b)" }
                })
    }

    @Test func carriesTheLookUpThatHasToBeRepeatedOverTCP() async throws {
        let links = try await TwoLinks(records: Self.records)
        let lines = try await links.probe("fetch", "b", "http://big.example/")
        #expect(lines == ["body \(TwoLinks.addresses.b) on 80"])
        let a = try await links.sent(over: "a")
        #expect(a == 0)
        let questions = try await links.questions()
        #expect(
            questions
                == ["tcp", "udp"].flatMap { transport in
                    ["A", "AAAA"].map { "\(transport) \($0) big.example \(TwoLinks.addresses.b)" }
                })
    }

    @Test func carriesWhatGoesToAProxy() async throws {
        let links = try await TwoLinks(records: Self.records)
        let lines = try await links.probe(
            "fetch", "--proxy", "http://proxy.example:3128", "b", "http://elsewhere.example/")
        #expect(lines == ["body \(TwoLinks.addresses.b) on 3128"])
        let a = try await links.sent(over: "a")
        #expect(a == 0)
        let questions = try await links.questions()
        #expect(questions == ["A", "AAAA"].map { "udp \($0) proxy.example \(TwoLinks.addresses.b)" })
    }

    @Test func sharesNoConnectionWithAnother() async throws {
        let links = try await TwoLinks(records: Self.records)
        let url = "http://web.example/"
        let lines = try await links.probe("fetch", "a", url, "b", url, "-", url, "b", url)
        let (a, b) = (TwoLinks.addresses.a, TwoLinks.addresses.b)
        #expect(lines == [a, b, a, b].map { "body \($0) on 80" })
    }

    @Test(arguments: ["http://web.example/", "http://\(TwoLinks.web)/", "http://localhost.web.example/"])
    func aMissingLinkIsAnErrorAndNothingIsSent(_ url: String) async throws {
        let links = try await TwoLinks(records: Self.records)
        let lines = try await links.probe("fetch", "wg0", url)
        #expect(lines.count == 1 && lines[0].hasPrefix("error linkUnavailable there is no link wg0, "), "\(lines)")
        let (a, b) = (try await links.sent(over: "a"), try await links.sent(over: "b"))
        #expect(a == 0 && b == 0)
        let questions = try await links.questions()
        #expect(questions == [])
    }

    @Test func aMissingLinkIsAnErrorWithAProxyToo() async throws {
        let links = try await TwoLinks(records: Self.records)
        let lines = try await links.probe(
            "fetch", "--proxy", "http://\(TwoLinks.web):3128", "wg0", "http://web.example/")
        #expect(lines.count == 1 && lines[0].hasPrefix("error linkUnavailable there is no link wg0, "), "\(lines)")
        let (a, b) = (try await links.sent(over: "a"), try await links.sent(over: "b"))
        #expect(a == 0 && b == 0)
    }

    @Test func aLinkThatIsDownIsAnErrorAndNothingIsSent() async throws {
        let links = try await TwoLinks(records: Self.records)
        try links.ip("link set dev b down")
        let lines = try await links.probe("fetch", "b", "http://web.example/", "b", "http://\(TwoLinks.web)/")
        #expect(lines.count == 2 && lines.allSatisfy { $0.hasPrefix("error ") }, "\(lines)")
        #expect(lines.first?.contains("over b") == true, "\(lines)")
        let a = try await links.sent(over: "a")
        #expect(a == 0)
    }

    @Test func nameServersThatDoNotAnswerAreGivenUpInTime() async throws {
        let links = try await TwoLinks(records: Self.records)
        let start = ContinuousClock.now
        let lines = try await links.probe("resolve", "2", "b", "dead.example")
        #expect(
            lines
                == [
                    "error cannotResolveHost cannot find the host dead.example: no name server answered over b "
                        + "(10.81.9.53)"
                ])
        #expect(ContinuousClock.now - start < .seconds(8))
        let a = try await links.sent(over: "a")
        #expect(a == 0)
    }

    @Test func missingNamesAreReported() async throws {
        let links = try await TwoLinks(records: Self.records)
        let lines = try await links.probe("resolve", "5", "b", "nosuch.example")
        #expect(lines.count == 1 && lines[0].contains("no such name") && lines[0].contains("over b"), "\(lines)")
    }

    @Test func theFileOfHostsIsReadFirst() async throws {
        let links = try await TwoLinks(records: Self.records)
        let lines = try await links.probe("fetch", "b", "http://listed.example/")
        #expect(lines == ["body \(TwoLinks.addresses.b) on 80"])
        let questions = try await links.questions()
        #expect(questions == [])
    }

    @Test func aNameThatLibcurlMightSpellOtherwiseLeaksNothing() async throws {
        let links = try await TwoLinks(records: Self.records)
        let lines = try await links.probe(
            "fetch", "b", "http://web.example./", "b", "http://WEB.example/", "b", "http://web%2Eexample/")
        #expect(lines == Array(repeating: "body \(TwoLinks.addresses.b) on 80", count: 3))
        let a = try await links.sent(over: "a")
        #expect(a == 0)
    }

    @Test func addressesThatItCannotReachComeLast() async throws {
        let six = """
            for side in $C $P; do ip netns exec $side sh -c "echo 0 >/proc/sys/net/ipv6/conf/a/disable_ipv6"; done
            ip -n $C address add 2001:db8:81::2/64 dev a nodad
            ip -n $P address add 2001:db8:81::1/64 dev a nodad
            """
        let links = try await TwoLinks(records: ["both.example=2001:db8:81::1,\(TwoLinks.web)"], setUp: six)
        let overA = try await links.probe("resolve", "5", "a", "both.example")
        #expect(overA == ["addresses 2001:db8:81::1 \(TwoLinks.web)"])
        let overB = try await links.probe("resolve", "5", "b", "both.example")
        #expect(overB == ["addresses \(TwoLinks.web) 2001:db8:81::1"])
    }
}
