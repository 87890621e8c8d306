reset
set encoding utf8
prefix = 'results/epyc-zen5-2core/bench_node_scaling_flops'
title = 'Training step: 2.17 GFLOP at 100 nodes, 645 GFLOP at 5000 nodes'
subtitle = 'AMD EPYC, graph_transformer, f32, cpu, 2 threads'
work = '5 neighbours, 1 graph, 6 layers, 256 channels, 8 heads, 512 FFN channels, gelu, layer norm, seed 42'
left_out = ''
note = 'the mathematics'' own count; open: measured'
ytitle = 'work of one run'
xtitle = 'nodes'
set xrange [85.5147833582248:5846.9422521423]
set xtics ('100' 100, '500' 500, '1k' 1000, '2k' 2000, '5k' 5000)
set yrange [464004185.378233:971264159841.119]
set ytics ('1 GFLOP' 1000000000, '3 GFLOP' 3000000000, '10 GFLOP' 10000000000, '30 GFLOP' 30000000000, '100 GFLOP' 100000000000, '300 GFLOP' 300000000000)
series = 4
array label[4]
array look[4]
array line[4]
label[1] = 'step, N^{1.45 ± 0.26}'
look[1] = 1
line[1] = 1
label[2] = 'forward, N^{1.42 ± 0.25}'
look[2] = 2
line[2] = 1
label[3] = 'step, executed'
look[3] = 3
line[3] = 0
label[4] = 'forward, executed'
look[4] = 4
line[4] = 0
$points << END
100 2167638119 2167638119 2167638119
500 15057617319 15057617319 15057617319
1000 41062891319 41062891319 41062891319
2000 126049439319 126049439319 126049439319
5000 644817083319 644817083319 644817083319


100 698912369 698912369 698912369
500 4761758769 4761758769 4761758769
1000 12691516769 12691516769 12691516769
2000 38055032769 38055032769 38055032769
5000 190177580769 190177580769 190177580769


100 2257880351 2257880351 2257880351


100 737550726 737550726 737550726
END
fits = 2
$fits << END
100 1769615892.31851
5000 507805715985.568


100 574869175.808437
5000 150484236792.817


100 2257880351
100 2257880351


100 737550726
100 737550726
END
load '/work/main/analysis/plots/scaling.gp'
