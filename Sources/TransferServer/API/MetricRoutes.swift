import Hummingbird
import TransferQueue

/// The routes for the Prometheus metrics, and for the rates of the last hour that the page shows.
struct MetricRoutes: Sendable {
    let metrics: ServerMetrics
    let history: RateHistory
    let rights: RightsCheck

    func add(to router: Router<ServerContext>, _ api: RouterGroup<ServerContext>) {
        router.group("metrics").add(middleware: rights).get { [metrics] _, _ in
            Response.plain(type: "text/plain; version=0.0.4; charset=utf-8", bytes: Array(metrics.text.utf8))
        }
        api.get("history") { request, _ -> Response in
            let window = try request.query("window", in: 1...RateHistory.seconds) ?? RateHistory.seconds
            let step = try request.query("step", in: 1...600) ?? 10
            let points = history.points(window: window, step: step)
            return .json { writer in
                writer.member("step", step)
                writer.member("points", objects: points) { writer, point in
                    writer.member("time", time: point.time)
                    writer.member("download", point.download)
                    writer.member("upload", point.upload)
                }
            }
        }
    }
}
