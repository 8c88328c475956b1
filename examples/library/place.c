/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.c - places a network on a cluster and prints where its ops run.
 *
 *     cc place.c $(pkg-config --cflags --libs moirai) -o place
 *     ./place net.onnx inter-server
 */
#include <moirai.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    moirai_error err = { 0 };
    moirai_graph *graph = NULL;
    moirai_cluster *cluster = NULL;
    moirai_instance *instance = NULL;
    moirai_placement *placement = NULL;
    const moirai_view *view;

    if (argc != 3 || moirai_graph_read(argv[1], NULL, &graph, &err) ||
        moirai_cluster_read(argv[2], &cluster, &err) ||
        moirai_instance_new(graph, cluster, NULL, NULL, &instance, &err) ||
        moirai_place(instance, NULL, &placement, &err)) {
        fprintf(stderr, "place GRAPH CLUSTER: %s%s%s\n", err.file,
                err.file[0] ? ": " : "", err.text);
        return 1;
    }
    view = moirai_instance_view(instance);
    for (int i = 0; i < view->n_ops; i++)
        printf("%s\t%s\n", view->op_names[i],
               view->device_ids[moirai_placement_device(placement, i)]);
    printf("makespan %.3f us, gap %.2f %%\n",
           (double) moirai_placement_makespan_ns(placement) / 1000,
           100 * moirai_placement_gap(placement));
    moirai_placement_free(placement);
    moirai_instance_free(instance);
    moirai_cluster_free(cluster);
    moirai_graph_free(graph);
    return 0;
}
