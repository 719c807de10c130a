import TransferCore
package import TransferJobs
import TransferStore

/// A function that gives a job from outside the bounds of this machine, or refuses it.
package typealias JobJudge = @Sendable (JobSpec) throws(TransferError) -> JobSpec

extension ClaimedJobs {
    /// Returns the jobs within this machine's bounds; those that it refuses fail.
    func judged(by accept: JobJudge) -> ClaimedJobs {
        var judged = self
        judged.jobs = []
        for (record, rank) in jobs {
            do throws(TransferError) {
                var record = record
                record.spec = try accept(record.spec)
                judged.jobs.append((record, rank))
            } catch {
                judged.unreadable.append((record.id, record.identity, error))
            }
        }
        return judged
    }
}

extension HookCall {
    /// Returns why this machine refuses the hook; `nil` if it accepts it.
    func refusal(by accept: JobJudge) -> TransferError? {
        let work = JobSpec.Download(urls: ["http:"], destination: "")
        do throws(TransferError) {
            _ = try accept(JobSpec(work: .download(work), settings: settings))
            return nil
        } catch {
            return error
        }
    }
}
