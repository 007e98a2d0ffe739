-- Standard error of a mean over units that come in clusters, independent of each other only from cluster to cluster:
-- the sandwich estimate with the correction clusters / (clusters - 1). `squared_sums` is the sum over clusters of the
-- square of the cluster's summed deviations from that mean. Where every cluster is one unit it equals `standard_error`.
-- NULL for fewer than two clusters.
create macro cluster_error(squared_sums, clusters, units) as
    case when clusters > 1 then sqrt(squared_sums * clusters / (clusters - 1)) / units end
