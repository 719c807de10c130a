import ServiceLifecycle
import TransferCore
import TransferEventLoop
import TransferQueue

/// The service that fills the feed. The ends of jobs of all processes come from the database, and other events from
/// this process.
struct EventReader: Service {
    let served: ServedQueue
    let feed: EventFeed
    let live: LiveJobs
    let attempts: AttemptLog
    let news: AriaNotifications
    let history: RateHistory

    /// The longest silence of a stream, after which a comment shows that the service is alive.
    static let silence = Duration.seconds(15)

    /// Begins to observe the queue.
    func listen() {
        served.queue.observe { [feed, live, attempts, news] event in
            live.hear(event)
            attempts.hear(event)
            news.hear(event)
            // The ends come from the database, in the order of their cursors.
            guard feed.isHeard, !EventJSON.isEnd(event.kind), let frame = EventJSON.frame(event) else { return }
            feed.add(frame)
        }
    }

    func run() async throws {
        let first = try await served.look { try $0.lastCursor() }
        feed.begin(at: first)
        await cancelWhenGracefulShutdown {
            await withTaskGroup { group in
                group.addTask { await readEnds(after: first) }
                group.addTask { await tellProgress() }
                group.addTask { await news.run(served) }
                await group.waitForAll()
            }
        }
        feed.end()
    }

    private func readEnds(after cursor: Int64) async {
        do {
            for try await event in served.queue.events(after: cursor) {
                if let frame = EventJSON.frame(event) { feed.add(frame) }
            }
        } catch {
            // The queue reports a failing database to its run, and ends.
        }
    }

    /// Sends the rates and the progress of active jobs to the followers, once a second.
    private func tellProgress() async {
        var quiet = Duration.zero
        while !Task.isCancelled {
            // A sleep with a reason: rates are sent once a second, even without any event.
            try? await Task.sleep(for: .seconds(1))
            quiet += .seconds(1)
            await lookAtOthers()
            live.secondEnds()
            let rates = live.rates
            history.add(
                RateHistory.Point(time: WallClock.milliseconds, download: rates.download, upload: rates.upload))
            guard feed.isHeard else { continue }
            if let frame = progress() {
                feed.add(frame)
                quiet = .zero
            } else if quiet >= Self.silence {
                feed.add(EventFeed.Frame(cursor: nil, name: "", batch: "", data: []))
                quiet = .zero
            }
        }
    }

    /// Reads the transfers of other workers while a client follows, since workers report them only on request.
    private func lookAtOthers() async {
        // The queue reports a failing database to its run.
        let reported = feed.isHeard ? try? await served.look { try $0.jobsUnderWay() } : nil
        live.setOthers(reported ?? [])
    }

    private func progress() -> EventFeed.Frame? {
        let jobs = live.all(atMost: Self.mostJobs)
        guard !jobs.isEmpty else { return nil }
        let rates = live.rates
        let data = JSONWriter.bytes { writer in
            writer.member("event", "progress")
            writer.member("time", time: WallClock.milliseconds)
            writer.member("download", rates.download)
            writer.member("upload", rates.upload)
            writer.member("running", rates.count)
            writer.member("jobs", objects: jobs) { writer, job in
                writer.member("batch", job.batch)
                writer.member("id", job.job)
                writer.member("completed", job.live.progress.completed)
                writer.member("total", job.live.progress.total)
                writer.member("rate", job.live.progress.rate)
                writer.member("worker", job.live.progress.worker)
            }
        }
        return EventFeed.Frame(cursor: nil, name: "progress", isSnapshot: true, batch: "", data: data)
    }

    /// The maximum number of jobs whose progress followers get.
    private static let mostJobs = 500
}
