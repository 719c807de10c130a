import ServiceLifecycle
import TransferEventLoop
import TransferQueue

/// Fills the feed: with the ends of jobs as the database has them, whichever process they are of, and with what this
/// process tells besides.
struct EventReader: Service {
    let served: ServedQueue
    let feed: EventFeed
    let live: LiveJobs
    let attempts: AttemptLog
    let news: AriaNotifications
    let history: RateHistory

    /// How long a stream may be silent: the comment then shows that the service lives.
    static let silence = Duration.seconds(15)

    /// Hears the queue from now on.
    func listen() {
        served.queue.observe { [feed, live, attempts, news] event in
            live.hear(event)
            attempts.hear(event)
            news.hear(event)
            // Ends come from the database, in the order of their cursors.
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
            // The queue tells its run of a database that fails, and ends.
        }
    }

    /// Rates and the bytes of jobs under way, once a second, to those who follow.
    private func tellProgress() async {
        var quiet = Duration.zero
        while !Task.isCancelled {
            // A sleep with a reason: rates are told once a second, also while no event comes.
            try? await Task.sleep(for: .seconds(1))
            quiet += .seconds(1)
            await lookAtOthers()
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

    /// Hears of the transfers of other workers while somebody follows: they tell of them for that alone.
    private func lookAtOthers() async {
        // The queue tells its run of a database that fails.
        let reported = feed.isHeard ? try? await served.look { try $0.jobsUnderWay() } : nil
        live.setOthers(reported ?? [])
    }

    private func progress() -> EventFeed.Frame? {
        let jobs = live.all(atMost: Self.mostJobs)
        guard !jobs.isEmpty else { return nil }
        let rates = live.rates
        let data = CanonicalWriter.bytes { writer in
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
        return EventFeed.Frame(cursor: nil, name: "progress", batch: "", data: data)
    }

    private static let mostJobs = 100
}
