import Testing
import TransferCore
import TransferWatch

@testable import TransferJobs

/// Jobs of another process for a folder that this process watches too.
@Suite struct SharedFolderJobTests {
    private let plan: WatchPlan

    init() throws {
        var spec = WatchSpec(folder: "/srv/out", url: "https://h.example/in/{name}")
        spec.settings.retry.limit = 3
        plan = try WatchPlan(spec)
    }

    private func job(_ source: String, _ url: String = "https://h.example/in/a") -> JobSpec {
        JobSpec(id: "a", work: .upload(JobSpec.Upload(source: source, url: url)))
    }

    @Test func jobsOfOthersGetTheSettingsOfThisProcess() throws {
        let accepted = try plan.accepted(job("/srv/out/sub/a"))
        #expect(accepted.settings == plan.spec.settings)
        #expect(accepted.urls == ["https://h.example/in/a"] && accepted.work.path == "/srv/out/sub/a")
    }

    @Test(arguments: [
        ("/etc/passwd", "https://h.example/in/a"), ("/srv/out/../secret", "https://h.example/in/a"),
        ("/srv/outside/a", "https://h.example/in/a"), ("/srv/out/a", "https://other.example/in/a"),
        ("/srv/out/a", "http://h.example/in/a"), ("/srv/out/a", "https://h.example:444/in/a"),
    ])
    func filesOutsideAndOtherServersAreRefused(_ source: String, _ url: String) {
        #expect(throws: TransferError.self) { try plan.accepted(job(source, url)) }
    }
}
