import Testing
import TransferJobs
import TransferTestSupport

@testable import TransferStoreSQLite

/// The jobs that a run works on, as other processes see them.
@Suite struct RunningJobsTextTests {
    @Test func aJobIsFoundByItsNumberAndItsBytesAreRead() {
        let text = RunningJobsText.text(underWay: [12, 3], bytes: [12: 4096, 3: 0, 14: 77])
        #expect(text == " 12 3 3:0 12:4096 14:77 ")
        #expect(RunningJobsText(text).bytes == [12: 4096, 3: 0, 14: 77])
        for number in [12, 3] { #expect(text.contains(" \(number) ")) }
        #expect(!text.contains(" 14 "), "it is prepared or saved")
    }

    @Test(arguments: ["", " 12 13 ", " x:1 1:y 1:2:3 "]) func otherTextHasNoBytes(_ text: String) {
        #expect(RunningJobsText(text).bytes.isEmpty)
    }

    @Test func anEmptyRunHasNoText() { #expect(RunningJobsText.text(underWay: [], bytes: [:]) == "") }

    /// The attempt under way counts, and the bytes are the current ones, only for claimed jobs.
    @Test func aListedJobIsShownAsItIsNow() {
        func listed(_ state: JobState, bytes: Int64?) -> ListedJob {
            var job = ListedJob(number: 7, job: "a", state: state, route: nil)
            (job.bytes, job.attempts) = (bytes, 2)
            job.note(now: [7: 500])
            return job
        }
        let running = listed(.claimed, bytes: 100)
        #expect(running.attempts == 3 && running.bytes == 500)
        let waiting = listed(.waiting, bytes: 100)
        #expect(waiting.attempts == 2 && waiting.bytes == 100)
        #expect(listed(.claimed, bytes: nil).bytes == 500)
    }
}
