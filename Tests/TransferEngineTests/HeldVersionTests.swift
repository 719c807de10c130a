import Testing
import TransferCore

@testable import TransferEngine

/// A validator belongs to the URL that gave it (RFC 9110 §8.8.3), so no other resource is asked with it.
@Suite struct HeldVersionTests {
    private static let own = "http://a.example/latest"

    private func version(_ place: String?, etag: String? = "\"x\"") -> HeldVersion {
        HeldVersion(
            etag.map { Validator(etag: $0) } ?? Validator(lastModified: "Mon, 01 Jan 2024 10:00:00 GMT"),
            of: place.map { AnsweredPlace(url: $0, takesCredentials: false) })
    }

    /// Rows: the recorded URL and the requested URL.
    @Test(
        arguments: [
            ("http://a.example/v1", "http://a.example/v1", true), ("http://a.example/v1", "http://a.example/v2", false),
            ("http://a.example/v1", own, false), (own, own, true), (own, "http://a.example/v1", false),
            (nil, own, true), (nil, "http://a.example/v1", false),
            ("http://a.example/v1?sig=1", "http://a.example/v1?sig=2", true),
            ("http://a.example/v1?sig=1", "http://a.example/v2?sig=1", false),
            ("http://a.example/v1?n=1", "http://a.example/v1?n=2", false),
            // The removed part of the URL may select the resource.
            ("http://a.example/v1?key=1", "http://a.example/v1?key=1", false),
        ] as [(String?, String, Bool)])
    func aValidatorIsUsedOnlyForItsOwnResource(_ place: String?, _ url: String, _ isMeant: Bool) {
        #expect(version(place).isOf(url, own: Self.own) == isMeant)
    }

    @Test func aRequestsOwnURLIsKnownWithItsSecret() {
        let own = "http://a.example/x?key=1"
        #expect(version(own).isOf(own, own: own))
    }

    private func machine(_ held: HeldVersion) -> ExchangeMachine {
        var request = ExchangeRequest(url: Self.own, intent: .representation(nil))
        request.held = held
        return ExchangeMachine(request)
    }

    private func redirect(_ machine: inout ExchangeMachine, to url: String) throws -> Hop {
        _ = machine.received(head(302, ["Location": "x"]), redirectTarget: url, now: 0)
        guard case .perform(let hop) = machine.hopEnded(nil, position: 0) else {
            throw TransferError(.internalFault, "the redirect was not followed")
        }
        return hop
    }

    @Test(arguments: ["\"x\"", nil] as [String?])
    func theConditionGoesToItsPlaceAlone(_ etag: String?) throws {
        let held = version("http://a.example/v1", etag: etag)
        let field = try #require(held.fields.first)
        #expect(field.name == (etag == nil ? "If-Modified-Since" : "If-None-Match"))
        var machine = machine(held)
        #expect(machine.start().headers.value(field.name) == nil)
        #expect(try redirect(&machine, to: "http://a.example/v1").headers.value(field.name) == field.value)
        #expect(try redirect(&machine, to: "http://a.example/v2").headers.value(field.name) == nil)
        #expect(try redirect(&machine, to: "http://b.example/v1").headers.value(field.name) == nil)
    }

    @Test func withoutARedirectTheFirstRequestHasTheCondition() {
        var machine = machine(version(Self.own))
        #expect(machine.start().headers.value("If-None-Match") == "\"x\"")
    }
}
