import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs

/// The keys that decide how a job shares a link: `congestion` and `background`.
@Suite struct LinkShareKeyTests {
    private func job(_ members: String, defaults: String = "{}") throws -> JobSpec {
        let reading = try read(
            #"{"version": 1, "defaults": \#(defaults), "jobs": [{"upload": "f", "to": "http://h/f"\#(members)}]}"#)
        #expect(reading.lines == [])
        return try #require(reading.jobs.first)
    }

    @Test(
        arguments: [("auto", .automatic), ("system", .system), ("bbr", .named("bbr"))]
            as [(String, CongestionControl)])
    func congestionIsRead(_ text: String, _ control: CongestionControl) throws {
        let spec = try job(#", "congestion": "\#(text)""#)
        #expect(spec.settings.congestion == control)
        #expect(try JobSpec(canonicalJSON: spec.canonicalJSON(.all), .all) == spec)
        #expect(try job("", defaults: #"{"congestion": "\#(text)"}"#).settings.congestion == control)
    }

    @Test func backgroundIsRead() throws {
        let spec = try job(#", "background": true"#)
        #expect(spec.settings.isBackground)
        #expect(try JobSpec(canonicalJSON: spec.canonicalJSON(.all), .all) == spec)
        #expect(try !job("").settings.isBackground)
        #expect(try !job(#", "background": false"#, defaults: #"{"background": true}"#).settings.isBackground)
    }

    @Test func congestionAndBackgroundDoNotChangeTheJob() throws {
        let plain = try job("")
        #expect(try job(#", "congestion": "bbr", "background": true"#).fingerprint == plain.fingerprint)
    }

    @Test func congestionAndBackgroundApplyToBothSidesOfACopy() throws {
        let reading = try read(
            #"{"version": 1, "jobs": [{"download": "http://a/f", "to": "http://b/f", "congestion": "bbr", "background": true}]}"#
        )
        let spec = try #require(reading.jobs.first)
        let source = try #require(spec.copySource)
        for settings in [spec.settings, source.job.settings] {
            #expect(settings.congestion == .named("bbr") && settings.isBackground)
        }
    }
}
