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
                // Only a process that watches the folder fails a job of a watched file. Other processes leave it to
                // such a process.
                guard record.watched == nil || lane.tags.contains(WatchTag.prefix) else {
                    judged.refused.append(record)
                    continue
                }
                judged.unreadable.append((record.id, record.identity, error))
            }
        }
        return judged
    }
}

extension ClaimedJobs {
    /// The ends of jobs that cannot be done.
    var failures: [JobEnd] {
        unreadable.map {
            JobEnd(
                id: $0.id, batch: lane.batch, identity: $0.identity, outcome: .failed($0.error, attempts: 0, host: nil))
        }
    }

    /// The steps of jobs that are left to the processes that watch their folders.
    var leftToWatchers: [JobStep] { refused.map { JobStep(leaving: $0, lane: lane) } }
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
